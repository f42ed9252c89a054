import { advance } from "./advance.ts";
import { Entry, type LeaseKind } from "./entry.ts";
import type { Queue } from "./queue.ts";
import type { Segment, SegmentNode } from "./segment.ts";
import { indexUntouched, lift, toLeased } from "./transitions.ts";

/** Messages [from, to) of a segment, all on the same attempt. */
export interface Slice {
  readonly segmentId: number;
  readonly from: number;
  readonly to: number;
  /** 1 on the first delivery. */
  readonly attempts: number;
}

/** Messages that one consumer holds until `expiresMs`. */
export interface Lease {
  /** Fencing token: every settlement names it. */
  readonly leaseId: number;
  readonly expiresMs: number;
  /** In order of leaving the queue. */
  readonly slices: readonly Slice[];
  readonly count: number;
  readonly bytes: number;
}

/** What a receiver asks for. */
export interface LeaseRequest {
  readonly max: number;
  readonly expiresMs: number;
  readonly kind: LeaseKind;
}

/** `leased` from `ready`: the first `max` messages by (due time, sequence), each with one attempt more. */
export function lease(queue: Queue, request: LeaseRequest, nowMs: number): Lease | null {
  advance(queue, nowMs);
  const leaseId = queue.nextLeaseId;
  const slices: Slice[] = [];
  let count = 0;
  let bytes = 0;
  while (count < request.max) {
    const node = queue.ready.peek();
    if (node === undefined) break;
    const wanted = request.max - count;
    const entry = node instanceof Entry ? takeEntry(queue, node, wanted) : takeUntouched(queue, node, wanted);
    entry.attempts += 1;
    entry.leaseId = leaseId;
    entry.leaseKind = request.kind;
    count += entry.count;
    bytes += entry.segment.bytes(entry.from, entry.to);
    const slice = { segmentId: entry.segment.id, from: entry.from, to: entry.to, attempts: entry.attempts };
    const last = slices.at(-1);
    if (last !== undefined && continues(last, slice)) slices[slices.length - 1] = { ...last, to: slice.to };
    else slices.push(slice);
    if (!joinNeighbour(queue, entry)) toLeased(queue, entry, request.expiresMs);
  }
  if (count === 0) return null;
  queue.nextLeaseId += 1;
  return { leaseId, expiresMs: request.expiresMs, slices, count, bytes };
}

function continues(a: Slice, b: Slice): boolean {
  return a.segmentId === b.segmentId && a.to === b.from && a.attempts === b.attempts;
}

/** Takes up to `wanted` messages off the front of a ready entry; what it leaves stays ready. */
function takeEntry(queue: Queue, entry: Entry, wanted: number): Entry {
  lift(queue, entry);
  if (entry.count <= wanted) return entry;
  const rest = splitOff(entry, entry.from + wanted);
  rest.state = "ready";
  rest.atMs = entry.atMs;
  queue.ready.push(rest);
  queue.readyCount += rest.count;
  queue.waitingBytes += rest.segment.bytes(rest.from, rest.to);
  return entry;
}

/** Cuts an entry that is in no heap in two and returns the second part, which is in none either. */
export function splitOff(entry: Entry, at: number): Entry {
  const rest = new Entry(entry.segment, at, entry.to, entry.attempts);
  rest.leaseId = entry.leaseId;
  rest.leaseKind = entry.leaseKind;
  entry.to = at;
  entry.segment.insertEntry(rest);
  return rest;
}

/** Takes up to `wanted` untouched messages of one run from behind a segment's cursor. */
function takeUntouched(queue: Queue, node: SegmentNode, wanted: number): Entry {
  const { segment } = node;
  const from = segment.cursor;
  const to = Math.min(from + wanted, segment.readyEnd, segment.runEnd(from));
  segment.cursor = to;
  queue.readyCount -= to - from;
  queue.waitingBytes -= segment.bytes(from, to);
  const entry = new Entry(segment, from, to, 0);
  segment.insertEntry(entry);
  indexUntouched(queue, segment);
  return entry;
}

/**
 * Lengthens the entry before it if both are now one stretch of the same lease: fewer entries to keep and to store. Their
 * sequence numbers must be consecutive too, or a retry would change the order among messages of other segments.
 */
function joinNeighbour(queue: Queue, entry: Entry): boolean {
  const segment: Segment = entry.segment;
  const previous = segment.entries[segment.entryAt(entry.from) - 1];
  if (
    previous === undefined ||
    previous.to !== entry.from ||
    previous.leaseId !== entry.leaseId ||
    previous.attempts !== entry.attempts ||
    segment.seqOf(entry.from - 1) + 1 !== entry.seq
  ) {
    return false;
  }
  segment.removeEntry(entry);
  previous.to = entry.to;
  queue.leasedCount += entry.count;
  return true;
}
