/**
 * Kinds of faults that can be injected into deliveries of a queue, to see whether its handler bears them: development
 * only.
 *
 * - `loseAck`: the result of the handler is lost. Its messages are delivered again.
 * - `deliverTwice`: the handler gets a batch twice; what it does the second time counts.
 * - `reorder`: the messages of a batch are shuffled.
 * - `failBatch`: the delivery fails before the handler gets it.
 * - `holdBatch`: the batch is held back for `ms`. Its messages are leased meanwhile.
 * - `slow`: the result of the handler arrives `ms` later.
 * - `cutLease`: the delivery counts as failed after `ms`, while the handler is still at it.
 * - `restart`: the queue's object crashes after the handler is done, before what it did is stored.
 */
export const FAULT_KINDS = [
  "loseAck",
  "deliverTwice",
  "reorder",
  "failBatch",
  "holdBatch",
  "slow",
  "cutLease",
  "restart",
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** Most deliveries that one fault is made in. */
export const FAULT_TIMES_MAX = 10_000;
/** Longest that a fault takes, in ms. */
export const FAULT_MS_MAX = 60_000;
/** How long a fault takes unless its setting says, in ms. */
export const FAULT_MS_DEFAULT = 1_000;

/** Something that goes wrong in the next deliveries of a queue. */
export interface Fault {
  readonly kind: FaultKind;
  /** In how many deliveries: 1 to `FAULT_TIMES_MAX`. */
  readonly times: number;
  /** For `holdBatch`, `slow` and `cutLease`: 0 to `FAULT_MS_MAX`. */
  readonly ms: number;
}

/** All faults of a queue. */
export interface FaultSetting {
  /** Seed of the shuffles of `reorder`. */
  readonly seed: number;
  /** At most one of each kind. */
  readonly faults: readonly Fault[];
}

/** Effect of each fault on a delivery. */
const TEXTS: Readonly<Record<FaultKind, (ms: number) => string>> = {
  loseAck: () => "what the handler did is not heard of",
  deliverTwice: () => "the handler gets the batch twice",
  reorder: () => "the messages of the batch are shuffled",
  failBatch: () => "the handler is not called",
  holdBatch: (ms) => `the batch is held back for ${ms} ms`,
  slow: (ms) => `what the handler did is heard of ${ms} ms late`,
  cutLease: (ms) => `the delivery fails after ${ms} ms, while the handler is at it`,
  restart: () => "the queue's object crashes once the handler is done",
};

/** Says what a fault does to a delivery: `the handler gets the batch twice`. */
export function faultText({ kind, ms }: Pick<Fault, "kind" | "ms">): string {
  return TEXTS[kind](ms);
}
