import type { HeapNode } from "./heap.ts";
import { MessageList } from "./message-list.ts";
import { Runs } from "./runs.ts";

/* A segment, its entries and the groups of its messages refer to each other, so they share a file. */

/** Stands for a segment's untouched messages in a heap. */
export interface SegmentNode extends HeapNode {
  readonly segment: Segment;
}

/**
 * Messages that were committed together, or appended while the segment was open as a tail: one row with a packed
 * payload. The engine has their sizes and due times, never their bytes.
 *
 * Untouched messages are [cursor, count): [cursor, readyEnd) of them are due. A message before the cursor that is not
 * in an entry is gone.
 */
export class Segment {
  readonly id: number;
  readonly runs = new Runs();
  /** Size of each body in bytes. */
  sizes: Uint32Array;
  /**
   * The group of each message, on queues that have groups; `null` on others. Ready messages of a segment with groups
   * are in no heap: `GroupOrder` lists them.
   */
  groups: Group[] | null = null;
  cursor = 0;
  readyEnd = 0;
  /** Touched messages, in order of index, not overlapping. */
  readonly entries: Entry[] = [];
  /** Messages that are not gone. */
  remaining: number;
  readonly readyNode: SegmentNode;
  readonly delayedNode: SegmentNode;

  constructor(id: number, sizes: Uint32Array) {
    this.id = id;
    this.sizes = sizes;
    this.remaining = sizes.length;
    this.readyNode = { segment: this, atMs: 0, seq: 0, at: -1 };
    this.delayedNode = { segment: this, atMs: 0, seq: 0, at: -1 };
  }

  get count(): number {
    return this.sizes.length;
  }

  get lastDueMs(): number {
    return this.runs.dueMs(this.runs.length - 1);
  }

  seqOf(i: number): number {
    const run = this.runs.indexOf(i);
    return this.runs.seq(run) + (i - this.runs.from(run));
  }

  dueOf(i: number): number {
    return this.runs.dueMs(this.runs.indexOf(i));
  }

  acceptedOf(i: number): number {
    return this.runs.acceptedMs(this.runs.indexOf(i));
  }

  /** End of the run that message i is in. */
  runEnd(i: number): number {
    const next = this.runs.indexOf(i) + 1;
    return next < this.runs.length ? this.runs.from(next) : this.count;
  }

  /** Whether message i is there and not gone. */
  has(i: number): boolean {
    return i < this.count && (i >= this.cursor || this.entryOf(i) !== null);
  }

  /** Sum of the body sizes of [from, to). */
  bytes(from: number, to: number): number {
    let sum = 0;
    for (let i = from; i < to; i++) sum += this.sizes[i] ?? 0;
    return sum;
  }

  /** Position in `entries` of the first entry that ends after message i. */
  entryAt(i: number): number {
    let low = 0;
    let high = this.entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.entries[middle] as Entry).to <= i)
        low = middle + 1; // middle < length
      else high = middle;
    }
    return low;
  }

  /** The entry that message i is in; `null` for one that is untouched, or gone. */
  entryOf(i: number): Entry | null {
    const entry = this.entries[this.entryAt(i)];
    return entry !== undefined && entry.from <= i ? entry : null;
  }

  insertEntry(entry: Entry): void {
    this.entries.splice(this.entryAt(entry.from), 0, entry);
  }

  removeEntry(entry: Entry): void {
    const at = this.entryAt(entry.from);
    if (this.entries[at] !== entry) throw new Error("the entry is not part of its segment");
    this.entries.splice(at, 1);
  }
}

/**
 * Kind of consumer that holds a lease.
 *
 * - `push`: a delivery that this process carries out (a Worker's `queue()`). It ends with the process: after a restart
 *   it cannot be settled, so it ends at once.
 * - `pull`: a client that holds a receipt. It survives restarts until it expires. An expired one is a failed delivery:
 *   its messages are ready again, or dead (spec cloudflare-queues 5).
 * - `receive`: a client with a visibility timeout. When it expires its messages go back to their place. A message that
 *   was received too often dies at the next receive (spec sqs 3, 6.1).
 */
export type LeaseKind = "push" | "pull" | "receive";

/**
 * State of a touched message. An untouched one is `delayed` or `ready` by its due time alone; a message that is gone
 * (`acked`, `dead`, `expired`, `purged`) has no entry.
 *
 * - `delayed`: due in the future. In: a retry with a delay. Out: time (`advance`), retention. A crash keeps it.
 * - `ready`: may be leased. In: time, a retry without delay, `release`, the expiry of a lease. Out: `lease`, retention.
 *   A crash keeps it.
 * - `leased`: a consumer works on it. In: `lease`. Out: `acknowledge`, `deleteReceived`, `retry`, `release`, expiry. A
 *   crash ends a push lease, whose attempt counts, and keeps any other.
 */
export type EntryState = "delayed" | "ready" | "leased";

/**
 * Messages [from, to) of a segment that share their whole history: they were leased, or the cursor has passed them for
 * the sake of a message behind them (`isolate`).
 */
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
  /** Fencing token of the running or the last lease, 0 before the first: a settlement with another one is stale. */
  leaseId = 0;
  // Stryker disable next-line StringLiteral: it is not read before the first lease.
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

/** Messages [from, to) of a segment, all on the same attempt. */
export interface Slice {
  readonly segmentId: number;
  readonly from: number;
  readonly to: number;
  /** Deliveries so far, the running one included. */
  readonly attempts: number;
}

/** The messages of an entry. */
export function sliceOf({ segment, from, to, attempts }: Entry): Slice {
  return { segmentId: segment.id, from, to, attempts };
}

/** Group of messages that name none. */
export const NO_GROUP = "";

/**
 * A message group of a FIFO queue, or a tenant of a standard one (spec sqs 4.2, 8). It exists as long as it has a
 * message that is not gone.
 */
export class Group implements HeapNode {
  readonly id: string;
  /** FIFO: all messages that are not gone, by sequence number. Standard: those that are ready, by due time. */
  readonly messages = new MessageList<Segment>();
  /** Keys that order the group among others, see its `GroupOrder`. */
  atMs = 0;
  seq = 0;
  at = -1;
  /** Messages that are not gone. */
  remaining = 0;
  inFlight = 0;
  /** When its latest message was committed, in ms. */
  sentMs = 0;

  constructor(id: string) {
    this.id = id;
  }
}
