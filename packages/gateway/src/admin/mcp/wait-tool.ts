import * as z from "zod/mini";
import { AdminError } from "../failure.ts";
import { messageAnswers } from "../openapi/message-answers.ts";
import type { EventView, MessageView, QueueView, StoryView } from "../views.ts";
import { idInput, lastEvent, queueInput, queuePath, READS, type Tool, type ToolPorts, tool } from "./tool.ts";

/** Longest wait of a call, in seconds: clients give a call up after a minute. */
export const WAIT_SECONDS_MAX = 50;
const WAIT_SECONDS_DEFAULT = 30;
/** Most calls that wait at a time, in an isolate: each holds a connection, and calls the queue's object. */
export const WAITS_MAX = 100;
/** Time between two looks, in ms. */
export const LOOK_EVERY_MS = 500;

/** Makes the tool that waits. */
export function waitTool(): Tool {
  const event = lastEvent(messageAnswers().event);
  // Each has its end, after which it no longer counts: workerd drops a call whose caller is gone, `finally` included.
  const waits = new Set<{ readonly endMs: number }>();
  const counts = z.object({ ready: z.number(), delayed: z.number(), leased: z.number() });
  return tool({
    name: "wait_for",
    title: "Wait for a message or a queue",
    description:
      "Waits until a message has left its queue: handled, dead-lettered, expired or deleted; without an id until the queue " +
      "is empty, or holds something. Ends after `seconds`: isMet says whether it has come.",
    hints: READS,
    input: z.strictObject({
      queue: queueInput(),
      id: z.optional(idInput()),
      until: z._default(z.enum(["empty", "notEmpty"]), "empty"),
      seconds: z._default(z.int().check(z.gte(0), z.lte(WAIT_SECONDS_MAX)), WAIT_SECONDS_DEFAULT),
    }),
    output: z.object({
      isMet: z.boolean(),
      messages: counts,
      last: z.nullable(event).check(z.describe("Last event of the message, as far as the history has it.")),
    }),
    run: async ({ queue, id, until, seconds }, ports) => {
      for (const wait of waits) if (wait.endMs <= ports.now()) waits.delete(wait);
      if (waits.size >= WAITS_MAX) {
        const text = `${WAITS_MAX} calls of wait_for are waiting, as many as may: try again, or look by list_queues.`;
        throw new AdminError(429, "too_many_waits", text);
      }
      const endMs = ports.now() + 1_000 * seconds;
      const wait = { endMs };
      const look = async () => {
        const { messages } = await ports.ask<QueueView>({ path: queuePath(queue) });
        if (id !== undefined) return { messages, isMet: await hasLeft(ports, queue, id) };
        const held = messages.ready + messages.delayed + messages.leased;
        return { messages, isMet: until === "empty" ? held === 0 : held > 0 };
      };
      let seen: Awaited<ReturnType<typeof look>>;
      waits.add(wait);
      try {
        seen = await look();
        while (!seen.isMet && ports.now() < endMs && !ports.isGone()) {
          await ports.pause(Math.min(LOOK_EVERY_MS, endMs - ports.now()));
          seen = await look().catch((error: unknown) => {
            // The token's rate is exceeded: a later look will be allowed.
            if (error instanceof AdminError && error.status === 429) return seen;
            throw error;
          });
        }
      } finally {
        waits.delete(wait);
      }
      return { ...seen, last: id === undefined ? null : await lastOf(ports, queue, id) };
    },
  });
}

async function hasLeft({ ask }: ToolPorts, queue: string, id: string): Promise<boolean> {
  try {
    const message = await ask<MessageView>({ path: queuePath(queue, "messages", id) });
    return message.end !== undefined;
  } catch (error) {
    if (error instanceof AdminError && error.code === "message_not_found") return true;
    throw error;
  }
}

/** Finds the last event of a message; `null` where the history has none, and for a token that may read no story. */
async function lastOf({ ask }: ToolPorts, queue: string, id: string): Promise<EventView | null> {
  try {
    const { events } = await ask<StoryView>({ path: queuePath(queue, "messages", id, "story") });
    return events.at(-1) ?? null;
  } catch (error) {
    if (error instanceof AdminError) return null;
    throw error;
  }
}
