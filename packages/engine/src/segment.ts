import type { Entry } from "./entry.ts";
import type { Group } from "./group.ts";
import type { HeapNode } from "./heap.ts";
import { Runs } from "./runs.ts";

/** Stands for a segment's untouched messages in a heap. */
export interface SegmentNode extends HeapNode {
  readonly segment: Segment;
}

/**
 * Messages that were committed together: one row with an immutable, packed payload. The engine knows their sizes and
 * due times, never their bytes.
 *
 * Untouched messages are [cursor, count): [cursor, readyEnd) of them are due. A message that was ever leased is an
 * entry; one that is neither is gone.
 */
export class Segment {
  readonly id: number;
  readonly runs = new Runs();
  /** Size of each body in bytes. */
  sizes: Uint32Array;
  /**
   * The group of each message, on queues that have groups; `null` on others. The ready messages of a segment with groups
   * are in no heap: `GroupOrder` knows them.
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
