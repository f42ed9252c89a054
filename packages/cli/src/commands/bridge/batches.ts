import { BATCH_BYTES, BATCH_MESSAGES } from "../transfer/lines.ts";

/** Limits of a batch: number of messages, and sum of their sizes in bytes. */
export interface BatchLimits {
  readonly messages: number;
  readonly size: number;
}

/** Limits of Sluice's admin API. */
const SLUICE_LIMITS: BatchLimits = { messages: BATCH_MESSAGES, size: BATCH_BYTES };

/** Splits items into batches within limits, in their order. An item that is too large has a batch of its own. */
export function* inBatches<T>(
  items: readonly T[],
  sizeOf: (item: T) => number,
  limits: BatchLimits = SLUICE_LIMITS,
): Generator<T[]> {
  let batch: T[] = [];
  let size = 0;
  for (const item of items) {
    const own = sizeOf(item);
    if (batch.length > 0 && (batch.length >= limits.messages || size + own > limits.size)) {
      yield batch;
      batch = [];
      size = 0;
    }
    batch.push(item);
    size += own;
  }
  if (batch.length > 0) yield batch;
}
