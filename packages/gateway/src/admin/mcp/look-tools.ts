import * as z from "zod/mini";
import { messageAnswers } from "../openapi/message-answers.ts";
import { ofOthers, time } from "../openapi/parts.ts";
import { queueAnswers } from "../openapi/queue-answers.ts";
import type {
  ErrorsView,
  MessageView,
  QueueView,
  QueueWhyView,
  SearchView,
  StoryView,
  WholeMessageView,
} from "../views.ts";
import { filterInput, idInput, lastEvent, queueInput, queuePath, READS, type Tool, tool } from "./tool.ts";

/** Most queues of a list. */
export const LISTED_QUEUES_MAX = 100;
/** Characters of a body that `get_message` shows unless it is asked for more, and most of them. */
export const BODY_CHARACTERS_DEFAULT = 8_000;
export const BODY_CHARACTERS_MAX = 1_048_576;
/** Newest events of a story that `get_story` shows unless it is asked for more, and most of them. */
export const STORY_EVENTS_DEFAULT = 50;
export const STORY_EVENTS_MAX = 500;
/** Most sections of the documentation in an answer. */
const SECTIONS_MAX = 8;

/** Makes the tools that change nothing. */
export function lookTools(): Tool[] {
  const answers = messageAnswers();
  const { queue } = queueAnswers(answers);
  // The schema of a consumer's settings would be half of all text that an agent reads about the tools.
  const queueView = z.extend(queue, { consumer: z.nullable(z.record(z.string(), z.unknown())) });
  const max = z.optional(z.int().check(z.gte(1), z.lte(100), z.describe("Most messages. Default: 20.")));
  const cursor = z.optional(z.string().check(z.describe("That of the answer before, to go on.")));
  return [
    tool({
      name: "list_queues",
      title: "List queues",
      description:
        "Lists queues: messages by state, consumer, how deliveries go, and which of them take dead letters.",
      hints: READS,
      input: z.strictObject({
        name: z.optional(z.string().check(z.describe("Text in the names. Default: every queue."))),
      }),
      output: z.object({
        queues: z.array(
          z.object({
            name: z.string(),
            ready: z.number(),
            delayed: z.number(),
            leased: z.number(),
            oldestMessageAt: z.nullable(time()),
            deliveryPaused: z.boolean(),
            consumer: z.nullable(z.string()),
            consumerPresent: z.nullable(z.boolean()),
            consecutiveFailures: z.number(),
            lastFailure: z.nullable(ofOthers()),
            deadLetterQueue: z.nullable(z.string()),
            takesDeadLettersOf: z.array(z.string()),
            isDamaged: z.boolean(),
          }),
        ),
        leftOut: z.number(),
      }),
      run: async ({ name = "" }, { ask }) => {
        const all = await ask<{ queues: readonly QueueView[] }>({ path: "/queues" });
        const named = all.queues.filter((queue) => queue.name.includes(name));
        const queues = named.slice(0, LISTED_QUEUES_MAX).map(rowOf);
        return { queues, leftOut: named.length - queues.length };
      },
    }),
    tool({
      name: "explain_queue",
      title: "Explain a queue",
      description:
        "Shows a queue with its settings, why it delivers nothing more now, and its messages counted by their last errors.",
      hints: READS,
      input: z.strictObject({ queue: queueInput() }),
      output: z.object({ queue: queueView, why: answers.queueWhy, errors: answers.errors }),
      run: async ({ queue }, { ask }) => {
        const [view, why, errors] = await Promise.all([
          ask<QueueView>({ path: queuePath(queue) }),
          ask<QueueWhyView>({ path: queuePath(queue, "why") }),
          ask<ErrorsView>({ path: queuePath(queue, "errors") }),
        ]);
        return { queue: view, why, errors };
      },
    }),
    tool({
      name: "find_messages",
      title: "Find messages",
      description:
        "Lists messages of a queue in whatever state, or looks for a filter, a text or an id in all queues. Each has why " +
        "it waits and its last error. Nothing is leased or counted.",
      hints: READS,
      input: z
        .strictObject({
          queue: z.optional(
            z.string().check(z.minLength(1), z.describe("Default: all queues; then a filter is needed.")),
          ),
          filter: z.optional(filterInput()),
          max,
          cursor,
        })
        .check(
          z.refine(({ queue, filter }) => queue !== undefined || (filter ?? "").trim() !== "", {
            message: "needs a queue, or a filter to look for in all queues",
          }),
          z.refine(({ queue, max, cursor }) => queue !== undefined || (max ?? cursor) === undefined, {
            message: "takes max and cursor with a queue only",
          }),
        ),
      output: z.object({
        found: z.array(
          z.object({
            queue: z.string(),
            messages: z.array(answers.message),
            count: z
              .nullable(z.number())
              .check(z.describe("Messages that fit; null where they were not counted.")),
            cursor: z.nullable(z.string()),
          }),
        ),
        gone: z.array(z.object({ queue: z.string(), id: z.string(), last: lastEvent(answers.event) })),
        unfinished: z.array(z.string()).check(z.describe("Queues that were not searched to their end.")),
      }),
      run: async ({ queue, filter = "", max, cursor }, { ask }) => {
        if (queue === undefined) {
          const found = await ask<SearchView>({ path: "/search", query: { q: filter } });
          return {
            found: found.messages.map((one) => ({ ...one, cursor: null })),
            gone: found.gone,
            unfinished: found.unfinished.map((one) => one.queue),
          };
        }
        const page = await ask<{ messages: readonly MessageView[]; cursor: string | null }>({
          path: queuePath(queue, "messages"),
          query: { filter, max, cursor },
        });
        const found = [{ queue, messages: page.messages, count: null, cursor: page.cursor }];
        return { found, gone: [], unfinished: [] };
      },
    }),
    tool({
      name: "get_message",
      title: "Get a message",
      description: "Shows one message with its body, attributes, times, why it waits, and its last error.",
      hints: READS,
      input: z.strictObject({
        queue: queueInput(),
        id: idInput(),
        maxCharacters: z._default(
          z
            .int()
            .check(
              z.gte(0),
              z.lte(BODY_CHARACTERS_MAX),
              z.describe("Characters of the body that are shown."),
            ),
          BODY_CHARACTERS_DEFAULT,
        ),
      }),
      output: answers.wholeMessage,
      run: async ({ queue, id, maxCharacters }, { ask }) => {
        const message = await ask<WholeMessageView>({ path: queuePath(queue, "messages", id) });
        const { text, base64, value } = message;
        const truncated = [text, base64, value].some((body) => (body ?? "").length > maxCharacters);
        const cut = (body: string | null) => body?.slice(0, maxCharacters) ?? null;
        return {
          ...message,
          truncated,
          text: cut(text),
          base64: cut(base64),
          ...(value === undefined ? {} : { value: value.slice(0, maxCharacters) }),
        };
      },
    }),
    tool({
      name: "get_story",
      title: "Get the story of a message",
      description:
        "Tells what happened to a message, also to one that is gone: sends, deliveries, errors with their stacks, what " +
        "handlers printed, retries, dead letters and redrives over all queues that it was in.",
      hints: READS,
      input: z.strictObject({
        queue: queueInput(),
        id: idInput(),
        max: z._default(
          z.int().check(z.gte(1), z.lte(STORY_EVENTS_MAX), z.describe("Newest events that are told.")),
          STORY_EVENTS_DEFAULT,
        ),
      }),
      output: z.extend(answers.story, { leftOut: z.number() }),
      run: async ({ queue, id, max }, { ask }) => {
        const story = await ask<StoryView>({ path: queuePath(queue, "messages", id, "story") });
        const events = story.events.slice(-max);
        return { ...story, events, leftOut: story.events.length - events.length };
      },
    }),
    tool({
      name: "why",
      title: "Why nothing is delivered",
      description: "Says in one sentence why a message, or a queue as a whole, is not delivered now.",
      hints: READS,
      input: z.strictObject({ queue: queueInput(), id: z.optional(idInput()) }),
      output: answers.queueWhy,
      run: async ({ queue, id }, { ask }) => {
        if (id === undefined) return ask({ path: queuePath(queue, "why") });
        const { why } = await ask<MessageView>({ path: queuePath(queue, "messages", id) });
        return { ...why, also: [] };
      },
    }),
    tool({
      name: "search_docs",
      title: "Search the documentation",
      description: "Finds sections of Sluice's documentation by words.",
      hints: READS,
      input: z.strictObject({ query: z.string().check(z.minLength(1)) }),
      output: z.object({
        sections: z.array(z.object({ file: z.string(), heading: z.string(), text: z.string() })),
        note: z.string(),
      }),
      run: async ({ query }, { searchDocs }) => {
        const sections = searchDocs === null ? [] : await searchDocs(query);
        const note =
          searchDocs === null
            ? "This broker has no documentation with it: it is in docs/ of the npm package sluice; begin with docs/llms.txt."
            : "Files are those of the npm package sluice. docs/llms.txt lists all of them.";
        return { sections: sections.slice(0, SECTIONS_MAX), note };
      },
    }),
  ];
}

/** Makes the row of a queue in the list. */
function rowOf({ name, messages, oldestMessageAt, settings, consumer, health, ...queue }: QueueView) {
  return {
    name,
    ...messages,
    oldestMessageAt,
    deliveryPaused: settings.deliveryPaused,
    consumer: consumer === null ? null : consumer.type === "worker" ? consumer.worker : consumer.type,
    consumerPresent: health?.present ?? null,
    consecutiveFailures: health?.consecutiveFailures ?? 0,
    lastFailure: health?.lastDelivery?.failure ?? null,
    deadLetterQueue: consumer?.settings.deadLetterQueue ?? queue.redrive?.deadLetterQueue ?? null,
    takesDeadLettersOf: [...queue.deadLettersOf.queues],
    isDamaged: queue.damage.length > 0,
  };
}
