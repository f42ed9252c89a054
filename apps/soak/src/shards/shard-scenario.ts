import type { Random } from "@sluice/harness/random";
import { type QueueDefinition, RETENTION_SECONDS_DEFAULT } from "@sluice/protocol";

/** Name of the queue with shards if it is standard, and of its Worker. */
export const ORDERS = "orders";
export const ORDERS_FIFO = "orders.fifo";

export type ShardTaker = "push" | "pull" | "receive";

/** Plan of a history of a queue with shards. */
export interface ShardScenario {
  readonly queue: string;
  readonly dead: string;
  readonly isFifo: boolean;
  readonly taker: ShardTaker;
  readonly definition: QueueDefinition;
  readonly deadDefinition: QueueDefinition;
  readonly troubleMs: number;
  readonly sends: number;
  readonly administrations: number;
  readonly oldProducers: number;
  /** Crashes of shard 0, which lends the queue's limits: with a Worker, while everything that it can lend is in use. */
  readonly lenderCrashes: number;
  /** Whether there is always work, and hardly anything else goes wrong: then parts are in use when shard 0 crashes. */
  readonly isBusy: boolean;
  readonly throws: boolean;
  /** State of a shard at the beginning of the calm phase. */
  readonly calmFault: "none" | "overloaded";
  readonly finalShards: number;
  /** Whether messages keep coming in the calm phase until a shard would have waited too long. */
  readonly isSteady: boolean;
}

/** Whether the history of a seed is of a queue with shards. */
export function hasShards(seed: number): boolean {
  return seed % 7 === 4;
}

/** Returns the seed of the history with shards of this number; the first is 1. */
export function shardSeed(number: number): number {
  return 7 * (number - 1) + 4;
}

export function drawShardScenario(random: Random): ShardScenario {
  const isFifo = random.chance(0.45);
  const taker: ShardTaker = isFifo
    ? random.pick(["push", "receive"])
    : random.pick(["push", "push", "pull", "receive"]);
  const queue = isFifo ? ORDERS_FIFO : ORDERS;
  const dead = isFifo ? "dead.fifo" : "dead";
  const shards = random.between(1, 8);
  const base: QueueDefinition = {
    deliveryDelaySeconds: random.pick([0, 0, 3]),
    messageRetentionSeconds: RETENTION_SECONDS_DEFAULT,
    producers: [],
    consumer: null,
    ...(isFifo ? { fifo: { deduplicationScope: "messageGroup" } } : {}),
  };
  const maxRetries = random.pick([0, 1, 2]);
  const limit = random.pick([null, null, null, 2, 10]);
  const own: QueueDefinition = {
    ...base,
    shards,
    ...(limit === null ? {} : { maxReceivesPerSecond: limit }),
  };
  const settings = {
    maxRetries,
    deadLetterQueue: dead,
    maxBatchSize: random.pick([1, 2, 5]),
    retryDelaySeconds: random.pick([0, 0, 2, 30]),
  };
  const definition: QueueDefinition =
    taker === "push"
      ? {
          ...own,
          consumer: {
            type: "worker",
            worker: ORDERS,
            settings: {
              ...settings,
              maxBatchTimeoutSeconds: random.pick([0, 1]),
              maxConcurrency: random.pick([null, 1, 2, 3]),
            },
          },
        }
      : taker === "pull"
        ? { ...own, consumer: { type: "http_pull", settings: { ...settings, visibilityTimeoutMs: 30_000 } } }
        : { ...own, receive: { redrive: { deadLetterQueue: dead, maxReceiveCount: maxRetries + 1 } } };
  const lenderCrashes = random.pick([0, 0, 2, 10]);
  const isBusy = lenderCrashes === 10;
  return {
    queue,
    dead,
    isFifo,
    taker,
    definition,
    deadDefinition: random.chance(0.3) ? { ...base, shards: random.between(2, 3) } : base,
    troubleMs: isBusy ? 60_000 : random.pick([5_000, 60_000, 400_000]),
    sends: isBusy ? 40 : random.pick([8, 16, 40]),
    administrations: random.pick([0, 2, 4, 8]),
    oldProducers: isFifo ? 0 : random.pick([0, 0, 2]),
    lenderCrashes,
    isBusy,
    throws: random.chance(0.5),
    calmFault: isFifo ? "none" : random.pick(["none", "none", "overloaded"]),
    finalShards: random.between(1, 8),
    isSteady: random.chance(0.15),
  };
}
