import type { Queue } from "../queue/queue.ts";
import type { Slice } from "../segments/segment.ts";
import { DeadLetters, type Lease, leaseOrDeadLetter } from "./lease.ts";
import { returnReceived, takeLeased } from "./settle.ts";

/** Request of a receiver for messages under a visibility timeout. */
export interface ReceiveRequest {
  readonly max: number;
  /** End of the visibility timeout in ms; `nowMs` or before leaves the messages visible. */
  readonly visibleAtMs: number;
  /** Bytes of messages after which no further one dies at this receive. Default: no limit. */
  readonly deadBytesMax?: number;
}

export interface Received {
  readonly lease: Lease | null;
  /** Messages that were received too often: they have left the queue, the caller moves or drops their bytes. */
  readonly dead: readonly Slice[];
  /** Rest of `deadBytesMax`; 0 or less when further messages may have to die at the next receive. */
  readonly deadRoom: number;
}

/**
 * Leases up to `max` ready messages to a receiver, and counts a receive of each. A message that was received
 * `max_retries + 1` times is dead instead (spec sqs 6.1). A receive with a timeout of 0 counts too (spec sqs 3.2).
 */
export function receive(
  queue: Queue,
  { max, visibleAtMs, deadBytesMax = Infinity }: ReceiveRequest,
  nowMs: number,
): Received {
  const dead = new DeadLetters(deadBytesMax);
  const request = { max, expiresMs: Math.max(visibleAtMs, nowMs), kind: "receive" as const };
  const lease = leaseOrDeadLetter(queue, request, nowMs, queue.rules.maxRetries + 1, dead);
  if (lease !== null && visibleAtMs <= nowMs) {
    for (const slice of lease.slices) {
      const taken = takeLeased(queue, { ...slice, leaseId: lease.leaseId });
      for (const entry of taken) returnReceived(queue, entry, nowMs, nowMs);
    }
  }
  return { lease, dead: dead.slices, deadRoom: dead.room };
}
