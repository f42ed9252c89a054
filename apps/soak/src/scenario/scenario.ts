import type { Undeliverable } from "@sluice/broker/testing";
import type { Random } from "@sluice/harness/random";
import {
  type ConsumerSettings,
  type FifoSettings,
  type HttpPushFormat,
  type PullConsumerDefinition,
  type QueueDefinition,
  RETENTION_SECONDS_DEFAULT,
  type RedriveSettings,
  type WorkerConsumerDefinition,
} from "@sluice/protocol";
import type { Asks } from "../ledger/endpoint-authorization.ts";
import { FILLER_BYTES_MAX } from "../ledger/tags.ts";
import { drawAsks, drawEndpoint, drawFormat, drawReplies, type Replies } from "./endpoint-scenario.ts";

/** Behaviour of a handler at a batch. */
export type Behaviour = "ok" | "some" | "retryAll" | "throw" | "crash" | "hang" | "late";

/** Consumer that takes messages out of a queue. */
export type Taker =
  | { readonly kind: "push"; readonly behaviours: readonly [Behaviour, ...Behaviour[]] }
  | { readonly kind: "pull" }
  /** Clients of SQS. */
  | { readonly kind: "receive" }
  | {
      readonly kind: "endpoint";
      readonly format: HttpPushFormat;
      readonly replies: Replies;
      readonly asks: Asks;
      /** Whether it may have periodic tasks, whose runs have no tags. Then no message leaves its queue for another. */
      readonly mayHaveTasks: boolean;
    }
  /** No consumer: messages wait until their retention ends. */
  | { readonly kind: "none" };

export interface QueueScenario {
  readonly name: string;
  readonly definition: QueueDefinition;
  readonly taker: Taker;
}

/** Plan of a history, drawn from its seed before its first event. */
export interface Scenario {
  readonly queues: readonly QueueScenario[];
  /** Requests of the producers. */
  readonly sends: number;
  /** Most messages of one request. */
  readonly batchMax: number;
  /** Most bytes of a body after its tag: the number of messages in a segment depends on it. */
  readonly fillerBytesMax: number;
  /** When the faults stop, in ms from the start. */
  readonly troubleMs: number;
  readonly clockJumps: number;
  readonly settingsChanges: number;
  readonly absences: number;
  readonly failingWrites: number;
  readonly pauses: number;
  /** Number of times that worker daemons are drained, without a stop of the broker after it. */
  readonly drains: number;
  readonly topic: TopicScenario | null;
  /** Whether the queues have a directory. Then they have no HTTP endpoints and no groups, and there is no topic. */
  readonly hasDirectory: boolean;
  /** Changes of queues by the API, deletions among them. */
  readonly administrations: number;
  /** Move tasks that are requested. */
  readonly moves: number;
  /** Whether the queues note what happens to messages. */
  readonly keepsHistory: boolean;
}

/** A topic that queues subscribe to. */
export interface TopicScenario {
  readonly isFifo: boolean;
  /** For each queue whether it subscribes. */
  readonly subscribed: readonly boolean[];
  readonly publishes: number;
  /** Destination of copies for the first queue once that is deleted; `null` if it never is. */
  readonly fate: Undeliverable | null;
}

export const TOPIC_NAME = "topic/1";

/** Settings that make a queue a FIFO queue. */
const FIFO: FifoSettings = { deduplicationScope: "queue" };
const QUEUE_NAMES = ["orders", "dead-1", "dead-2"] as const;

export function drawScenario(random: Random): Scenario {
  const count = random.pick([1, 2, 3, 3]);
  const names = QUEUE_NAMES.slice(0, count);
  const hasDirectory = random.chance(0.25);
  const queues = names.map((name, i) => {
    const drawn = () => drawQueue(random, name, names[i + 1] ?? null, i);
    let queue = drawn();
    while (hasDirectory && (queue.taker.kind === "endpoint" || queue.definition.fifo !== undefined))
      queue = drawn();
    return queue;
  });
  const topic = !hasDirectory && random.chance(0.3) ? drawTopic(random, names) : null;
  return {
    hasDirectory,
    administrations: hasDirectory ? random.pick([0, 1, 3, 6]) : 0,
    queues,
    topic,
    // No move task may go to a queue that is deleted.
    moves: topic?.fate == null && count > 1 ? random.pick([0, 0, 1, 3]) : 0,
    sends: random.between(2, 12),
    batchMax: random.pick([1, 4, 12]),
    fillerBytesMax: random.pick([40, 40, 40, 40, 40, FILLER_BYTES_MAX]),
    troubleMs: random.pick([200, 5_000, 60_000, 1_200_000]),
    clockJumps: random.pick([0, 0, 0, 1, 2]),
    settingsChanges: random.pick([0, 0, 0, 1]),
    absences: random.pick([0, 0, 1, 2]),
    failingWrites: random.pick([0, 0, 0, 1, 2]),
    pauses: hasDirectory ? 0 : random.pick([0, 0, 1, 2]),
    drains: random.pick([0, 0, 1]),
    keepsHistory: random.chance(0.5),
  };
}

function drawTopic(random: Random, names: readonly string[]): TopicScenario {
  const last = names.at(-1);
  const fates: Undeliverable[] = [{ kind: "dropped", reason: "as drawn" }];
  if (last !== undefined && names.length > 1) fates.push({ kind: "deadLetter", queue: last });
  return {
    isFifo: random.chance(0.3),
    subscribed: names.map((_, i) => i === 0 || random.chance(0.6)),
    publishes: random.between(1, 10),
    fate: random.chance(0.4) ? (fates[random.below(fates.length)] ?? null) : null,
  };
}

function drawQueue(
  random: Random,
  name: string,
  deadLetterQueue: string | null,
  depth: number,
): QueueScenario {
  const taker = drawTaker(random, depth, deadLetterQueue === null);
  const definition = drawDefinition(random, name, taker, deadLetterQueue);
  const isFifo = random.chance(taker.kind === "receive" ? 0.5 : 0.2);
  return { name, taker, definition: isFifo ? { ...definition, fifo: FIFO } : definition };
}

/** Settings of a queue; drawn again when they change in the middle of a history. */
export function drawDefinition(
  random: Random,
  name: string,
  taker: Taker,
  deadLetterQueue: string | null,
): QueueDefinition {
  const definition = drawPushed(random, name, deadLetterQueue);
  switch (taker.kind) {
    case "push":
      return definition;
    case "pull":
      return { ...definition, consumer: pulled(definition.consumer.settings) };
    case "receive":
      return { ...definition, consumer: null, receive: { redrive: redriveOf(definition.consumer.settings) } };
    case "endpoint": {
      const settings = drawEndpoint(
        random,
        taker.format,
        definition.consumer.settings.deadLetterQueue,
        taker.mayHaveTasks,
      );
      return { ...definition, consumer: { type: "http_push", settings } };
    }
    // Only retention empties the queue, so the history would have to wait for it.
    case "none":
      return { ...definition, messageRetentionSeconds: 60 };
  }
}

function redriveOf({ deadLetterQueue, maxRetries }: ConsumerSettings): RedriveSettings | null {
  return deadLetterQueue === null ? null : { deadLetterQueue, maxReceiveCount: maxRetries + 1 };
}

function pulled({
  maxBatchSize,
  maxRetries,
  retryDelaySeconds,
  deadLetterQueue,
}: ConsumerSettings): PullConsumerDefinition {
  const settings = {
    maxBatchSize,
    maxRetries,
    retryDelaySeconds,
    deadLetterQueue,
    visibilityTimeoutMs: 30_000,
  };
  return { type: "http_pull", settings };
}

function drawPushed(
  random: Random,
  name: string,
  deadLetterQueue: string | null,
): QueueDefinition & { readonly consumer: WorkerConsumerDefinition } {
  const maxReceivesPerSecond = random.pick([null, null, null, null, 1, 3, 20]);
  return {
    ...(maxReceivesPerSecond === null ? {} : { maxReceivesPerSecond }),
    deliveryDelaySeconds: random.pick([0, 0, 0, 3]),
    messageRetentionSeconds: random.pick([
      RETENTION_SECONDS_DEFAULT,
      RETENTION_SECONDS_DEFAULT,
      RETENTION_SECONDS_DEFAULT,
      60,
      1_200,
    ]),
    producers: [],
    consumer: {
      type: "worker",
      // Called like its queue.
      worker: name,
      settings: {
        maxBatchSize: random.pick([1, 2, 5, 10]),
        maxBatchTimeoutSeconds: random.pick([0, 1, 5]),
        maxRetries: random.pick([0, 1, 2, 3]),
        maxConcurrency: random.pick([null, 1, 1, 2]),
        retryDelaySeconds: random.pick([0, 0, 2, 90]),
        deadLetterQueue: random.chance(0.9) ? deadLetterQueue : null,
      },
    },
  };
}

function drawTaker(random: Random, depth: number, isLast: boolean): Taker {
  const kind = random.below(27);
  if (kind >= 20) return { kind: "receive" };
  if (kind === 0 && depth > 0) return { kind: "none" };
  if (kind <= 3) return { kind: "pull" };
  if (kind <= 11) {
    const format = drawFormat(random);
    const asks = format === "sns" ? drawAsks(random) : "nothing";
    return { kind: "endpoint", format, replies: drawReplies(random), asks, mayHaveTasks: isLast };
  }
  return { kind: "push", behaviours: drawBehaviours(random) };
}

function drawBehaviours(random: Random): [Behaviour, ...Behaviour[]] {
  return random.pick<[Behaviour, ...Behaviour[]]>([
    ["ok"],
    ["ok", "some"],
    ["ok", "ok", "throw", "crash"],
    ["throw"],
    ["retryAll", "some"],
    ["some"],
    ["ok", "some", "retryAll", "throw", "crash"],
    ["ok", "ok", "ok", "some", "throw", "crash", "hang", "late"],
    ["ok", "hang", "late"],
  ]);
}
