import type { HeapNode } from "./heap.ts";
import type { Segment } from "./segment.ts";

/**
 * Who holds a lease.
 *
 * - `push`: a delivery that this process is carrying out (a Worker's `queue()`). It ends with the process: after a
 *   restart nobody can settle it any more, so it is released at once.
 * - `pull`: a client that holds a receipt. It survives restarts until it expires. What it lets lapse was a delivery that
 *   failed: ready from then on, or dead (spec cloudflare-queues 5).
 * - `receive`: the same with a visibility timeout. What it lets lapse goes back to its place, and dies at the next receive
 *   if it was received too often (spec sqs 3, 6.1).
 */
export type LeaseKind = "push" | "pull" | "receive";

/**
 * Where a touched message stands. An untouched one is `delayed` or `ready` by its due time alone; a message that is gone
 * (`acked`, `dead`, `expired`, `purged`) has no entry.
 *
 * - `delayed`: due in the future. In: a retry with a delay. Out: time (`advance`). A crash keeps it.
 * - `ready`: may be leased. In: time, or a retry without delay. Out: `lease`. A crash keeps it.
 * - `leased`: a consumer works on it. In: `lease`. Out: `acknowledge`, `retry`, `release`, or expiry. A crash keeps a
 *   pull lease and releases a push lease, with the attempt counted.
 */
export type EntryState = "delayed" | "ready" | "leased";

/** Messages [from, to) of a segment that were leased at least once and share their whole history. */
export class Entry implements HeapNode {
  readonly segment: Segment;
  readonly from: number;
  to: number;
  /** Deliveries so far, the running one included. */
  attempts: number;
  state: EntryState = "ready";
  /** Waiting: due time. Leased: lease expiry. */
  atMs = 0;
  /** Sequence number of message `from`: ties of equal times keep the order of sending. */
  readonly seq: number;
  at = -1;
  /** Fencing token of the running or the last lease: a settlement with another one is stale. */
  leaseId = 0;
  // Stryker disable next-line StringLiteral: nobody asks for it before the first lease.
  leaseKind: LeaseKind = "push";
  /** When a `receive` took the messages for the first time, in ms; 0 if none has. */
  firstReceivedMs = 0;

  constructor(segment: Segment, from: number, to: number, attempts: number) {
    this.segment = segment;
    this.from = from;
    this.to = to;
    this.attempts = attempts;
    this.seq = segment.seqOf(from);
  }

  get count(): number {
    return this.to - this.from;
  }
}

/** Cuts an entry that is in no heap in two and returns the second part, which is in none either. */
export function splitOff(entry: Entry, at: number): Entry {
  const rest = new Entry(entry.segment, at, entry.to, entry.attempts);
  rest.leaseId = entry.leaseId;
  rest.leaseKind = entry.leaseKind;
  rest.firstReceivedMs = entry.firstReceivedMs;
  entry.to = at;
  entry.segment.insertEntry(rest);
  return rest;
}
