import type { QueueView } from "@sluice/gateway/views";
import { type Cell, facts, type Look, table } from "@sluice/local/report/table";
import { batch, concurrency, receiver, retriesBy } from "@sluice/local/report/topology-table";
import { distance } from "@sluice/local/report/words";
import { failedText, isFailing, plural, printable, size, span } from "@sluice/protocol/words";
import { BrokerFailure } from "../../client/broker-client.ts";
import { errorsOf, whyOfQueue } from "../../client/messages.ts";
import { allQueues, queueNamed } from "../../client/queues.ts";
import { groupLines } from "../messages/errors.ts";
import { answer, type OnBroker } from "../on-broker.ts";
import { MOVE_FAILURES, targetOf } from "./redrive.ts";

/** Queues on a page, as in Wrangler. */
const PAGE_QUEUES = 100;

const COLUMNS = ["queue", "ready", "delayed", "leased", "oldest", "consumer", "dead letters", "state"];

/** `sluice queues list`: lists all queues, or those of a page. */
export async function listQueues(on: OnBroker, page: number | null): Promise<number> {
  const all = await allQueues(on.client);
  const shown = page === null ? all : all.slice((page - 1) * PAGE_QUEUES, page * PAGE_QUEUES);
  if (!on.json && shown.length === 0) {
    on.printer.warn(all.length === 0 ? NO_QUEUES : `There are no more than ${plural(all.length, "queue")}.`);
    return 0;
  }
  answer(on, shown, { text: table(COLUMNS, shown.map(rowOf), on.printer) });
  return 0;
}

const NO_QUEUES =
  'There are no queues yet. "sluice queues create NAME" makes one, and so does a binding in a wrangler.toml.';

/** `sluice queues info`: shows everything about a queue. */
export async function showQueue(on: OnBroker, name: string): Promise<number> {
  const queue = await queueNamed(on.client, name);
  const trouble = on.json ? NO_TROUBLE : await troubleOf(on, name);
  answer(on, queue, { text: factsOf(queue, trouble, on.printer) });
  return 0;
}

/** Reasons why nothing is delivered, and the last errors of messages, in lines. */
interface Trouble {
  readonly why: readonly string[];
  readonly errors: readonly string[];
  /** Numbers of messages at the time of the reasons; absent where they are unknown. */
  readonly messages?: QueueView["messages"] | undefined;
}

const NO_TROUBLE: Trouble = { why: [], errors: [] };

/** Reads the trouble of a queue. A shard that does not answer is the only reason. */
async function troubleOf({ client }: OnBroker, name: string): Promise<Trouble> {
  try {
    const [why, errors] = await Promise.all([whyOfQueue(client, name), errorsOf(client, name)]);
    return {
      why: [why, ...why.also].map(({ text }) => text),
      errors: groupLines(errors),
      messages: why.messages,
    };
  } catch (error) {
    if (error instanceof BrokerFailure && error.code === "shard_unavailable")
      return { ...NO_TROUBLE, why: [error.message] };
    throw error;
  }
}

/** Formats a number. Where a part of the queue cannot be read, adds a plus, or shows `?` for 0. */
function counted(
  count: number,
  { damage }: Pick<QueueView, "damage">,
  inWords: (value: number) => string = String,
): string {
  if (damage.every(({ kind }) => kind !== "unreadable")) return inWords(count);
  return count === 0 ? "?" : `${inWords(count)}+`;
}

/** Makes the row of a queue in the list. */
export function rowOf(queue: QueueView): Cell[] {
  const { name, messages, oldestMessageAt, now, consumer } = queue;
  const { alertsSilentUntil: silentUntil } = queue.settings;
  return [
    name,
    counted(messages.ready, queue),
    counted(messages.delayed, queue),
    counted(messages.leased, queue),
    oldestMessageAt === null ? "-" : span(Date.parse(now) - Date.parse(oldestMessageAt)),
    consumer === null ? "-" : receiver(consumer),
    deadLetterQueueOf(queue) ?? "-",
    withRemarks(stateOf(queue), [
      ...shardsText(queue),
      ...(silentUntil === null ? [] : [`alerts silent until ${silentUntil}`]),
    ]),
  ];
}

function withRemarks(state: Cell, remarks: readonly string[]): Cell {
  if (typeof state !== "string") return { ...state, text: [state.text, ...remarks].join(", ") };
  return state === "-" && remarks.length > 0 ? remarks.join(", ") : [state, ...remarks].join(", ");
}

/** Formats the number of shards, such as `8 shards`; empty for a queue that is one object. */
function shardsText({ settings }: QueueView): string[] {
  // A broker of an older release has no such setting.
  const { shards = 1 } = settings as Partial<QueueView["settings"]>;
  return shards === 1 ? [] : [plural(shards, "shard")];
}

/** Picks the most important state of a queue for a list. */
function stateOf({ settings, health, damage, messages, now }: QueueView): Cell {
  if (damage.length > 0) return { text: "damaged", colour: "red" };
  if (settings.deliveryPaused) return { text: "paused", colour: "yellow" };
  if (health === null) return "-";
  if (!health.present) return { text: "consumer away", colour: "yellow" };
  const { consecutiveFailures, lastDelivery } = health;
  if (lastDelivery === null) return "no delivery known";
  if (consecutiveFailures === 0) return { text: "ok", colour: "green" };
  const why = lastDelivery.failure === null ? null : printable(lastDelivery.failure);
  if (!isFailing(consecutiveFailures, messages)) {
    return `idle: ${failedText(consecutiveFailures, distance(lastDelivery.endedAt, now), why)}`;
  }
  const reason = why === null ? "" : `: ${why}`;
  return { text: `failing (${consecutiveFailures})${reason}`, colour: "red" };
}

/** Everything about a queue, in lines. */
export function factsOf(
  queue: QueueView,
  { why, errors, messages = queue.messages }: Trouble,
  look: Look,
): string {
  const { settings, consumer, deadLettersOf, now, producers, topics, buckets = [] } = queue;
  const { queues, subscriptions } = deadLettersOf;
  const count = (number: number) => counted(number, queue);
  const { deliveryDelaySeconds, messageRetentionSeconds, maxReceivesPerSecond } = settings;
  const oldest =
    queue.oldestMessageAt === null ? "" : `, the oldest came ${distance(queue.oldestMessageAt, now)}`;
  const limit = maxReceivesPerSecond === null ? "" : `, ${maxReceivesPerSecond} a second at most`;
  return facts(
    [
      ["queue", `${queue.name}${queue.kind === "fifo" ? " (FIFO)" : ""}`],
      ["id", queue.id],
      ["kept by", shardsText(queue)[0] ?? null],
      [
        "messages",
        `${count(messages.ready)} ready, ${count(messages.delayed)} delayed, ${count(messages.leased)} leased`,
      ],
      ["backlog", `${counted(queue.backlogBytes, queue, size)}${oldest}`],
      [
        "delivery",
        settings.deliveryPaused ? `paused: "sluice queues resume ${queue.name}" goes on` : deliveryOf(queue),
      ],
      ["why", listOf(why.map(printable), "\n")],
      ["alerts", settings.alertsSilentUntil === null ? null : `silent until ${settings.alertsSilentUntil}`],
      ["last errors", listOf(errors, "\n")],
      ["consumer", consumer === null ? "none" : receiver(consumer)],
      ["batch", consumer?.type === "worker" ? batch(consumer.settings) : null],
      ["concurrency", consumer === null ? null : concurrency(consumer)],
      ["retries", consumer === null && queue.redrive === null ? null : retriesBy(queue.redrive, consumer)],
      ["dead letters", deadLetterQueueOf(queue) === null ? null : `go to ${deadLetterQueueOf(queue)}`],
      ["takes those of", listOf([...queues, ...subscriptions])],
      ["delay", `${deliveryDelaySeconds} s`],
      ["retention", `${messageRetentionSeconds} s (${span(1_000 * messageRetentionSeconds)})${limit}`],
      ["producers", listOf(producers.map(({ worker, binding }) => `${worker} (${binding})`))],
      ["topics", listOf(topics)],
      ["R2 buckets", listOf(buckets)],
      ["last move", moveOf(queue)],
      [
        "damage",
        listOf(
          queue.damage.map(({ text }) => printable(text)),
          "\n",
        ),
      ],
    ],
    look,
  );
}

function deliveryOf({ health, consumer, now }: QueueView): string {
  if (health === null) return consumer === null ? "no consumer" : "when clients ask for messages";
  const { present, inFlight, consecutiveFailures, lastDelivery, next } = health;
  const failure = lastDelivery?.failure ?? null;
  const last =
    lastDelivery === null
      ? ", earlier ones are not known"
      : `, the last ended ${distance(lastDelivery.endedAt, now)}`;
  const lines = [
    `${inFlight} under way${last}${present ? "" : "; messages wait for the consumer"}`,
    ...(consecutiveFailures === 0
      ? []
      : [`${consecutiveFailures} failed in a row: ${printable(failure ?? "")}`]),
    ...(next === null ? [] : [`next ${NEXT[next.waitsFor]} ${distance(next.at, now)}`]),
  ];
  return lines.join("\n");
}

/** Texts that a time follows, by the value of `next.waitsFor`. */
const NEXT = {
  return: "checks whether the consumer is back",
  slot: "when its limit per second allows",
  due: "when a message or a batch is due,",
} as const;

/** Describes the latest move of a queue; `null` where there was none. */
export function moveOf({ lastMove, now }: Pick<QueueView, "lastMove" | "now">): string | null {
  if (lastMove === null) return null;
  const { status, to, moved, startedAt, failure } = lastMove;
  const why = failure === null ? "" : ` (${MOVE_FAILURES[failure]})`;
  return `${status}${why}, ${plural(moved, "message")} to ${targetOf(to, moved)}, begun ${distance(startedAt, now)}`;
}

function deadLetterQueueOf({ redrive, consumer }: QueueView): string | null {
  return redrive?.deadLetterQueue ?? consumer?.settings.deadLetterQueue ?? null;
}

function listOf(names: readonly string[], separator = ", "): string | null {
  return names.length === 0 ? null : names.join(separator);
}
