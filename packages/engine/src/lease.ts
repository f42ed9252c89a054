import { advance } from "./advance.ts";
import { Entry, type LeaseKind, splitOff } from "./entry.ts";
import { Group } from "./group.ts";
import { isolate } from "./isolate.ts";
import type { Queue } from "./queue.ts";
import type { Segment, SegmentNode } from "./segment.ts";
import { indexUntouched, lift, noteLeased, putBack, removeEntry, sliceOf, toLeased } from "./transitions.ts";

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
  return leaseOrBury(queue, request, nowMs, Infinity, []);
}

/**
 * `lease`, but what was delivered `deliveriesMax` times already is taken out of the queue and added to `dead`: "a receive
 * attempt of a message that was received too often moves it" (spec sqs 6.1).
 */
export function leaseOrBury(
  queue: Queue,
  request: LeaseRequest,
  nowMs: number,
  deliveriesMax: number,
  dead: Slice[],
): Lease | null {
  advance(queue, nowMs);
  queue.order?.pass(queue, nowMs);
  const taking: Taking = { request, nowMs, leaseId: queue.nextLeaseId, slices: [], count: 0, bytes: 0 };
  while (taking.count < request.max) {
    queue.order?.settle(queue);
    const node = queue.ready.peek() ?? queue.order?.fallback();
    if (node === undefined) break;
    if (node instanceof Group) {
      leaseFromGroup(queue, node, taking, deliveriesMax, dead);
      continue;
    }
    const wanted = request.max - taking.count;
    if (!(node instanceof Entry)) {
      addTo(taking, queue, takeUntouched(queue, node, wanted));
    } else if (node.attempts >= deliveriesMax) {
      lift(queue, node);
      bury(queue, node, dead);
    } else {
      addTo(taking, queue, takeEntry(queue, node, wanted));
    }
  }
  const { leaseId, slices, count, bytes } = taking;
  if (count === 0) return null;
  queue.nextLeaseId += 1;
  return { leaseId, expiresMs: request.expiresMs, slices, count, bytes };
}

/** A lease that is being put together. */
interface Taking {
  readonly request: LeaseRequest;
  readonly nowMs: number;
  readonly leaseId: number;
  readonly slices: Slice[];
  count: number;
  bytes: number;
}

/** Takes what a group can deliver, as far as it is wanted. */
function leaseFromGroup(
  queue: Queue,
  group: Group,
  taking: Taking,
  deliveriesMax: number,
  dead: Slice[],
): void {
  const { messages } = group;
  let taken = 0;
  while (taking.count < taking.request.max && queue.order?.canDeliver(group, taken) === true) {
    const [segment, index] = [messages.segmentAt(taken), messages.indexAt(taken)];
    const entry = isolate(queue, segment, index);
    if (entry === null) throw new Error(`message ${index} of segment ${segment.id} is ready and gone`);
    if (entry.attempts >= deliveriesMax) {
      bury(queue, entry, dead);
      // With another first message the group may have another place among the groups.
      if (taken === 0) return;
    } else {
      addTo(taking, queue, entry);
      taken += 1;
    }
  }
}

/** Leases an entry that is in no heap. */
function addTo(taking: Taking, queue: Queue, entry: Entry): void {
  const { request, slices } = taking;
  entry.attempts += 1;
  entry.leaseId = taking.leaseId;
  entry.leaseKind = request.kind;
  if (request.kind === "receive" && entry.firstReceivedMs === 0) entry.firstReceivedMs = taking.nowMs;
  taking.count += entry.count;
  taking.bytes += entry.segment.bytes(entry.from, entry.to);
  const slice = sliceOf(entry);
  const last = slices.at(-1);
  if (last !== undefined && continues(last, slice)) slices[slices.length - 1] = { ...last, to: slice.to };
  else slices.push(slice);
  if (!joinNeighbour(queue, entry)) toLeased(queue, entry, request.expiresMs);
}

function bury(queue: Queue, entry: Entry, dead: Slice[]): void {
  dead.push(sliceOf(entry));
  removeEntry(queue, entry);
}

function continues(a: Slice, b: Slice): boolean {
  return a.segmentId === b.segmentId && a.to === b.from && a.attempts === b.attempts;
}

/** Takes up to `wanted` messages off the front of a ready entry; what it leaves stays ready. */
function takeEntry(queue: Queue, entry: Entry, wanted: number): Entry {
  lift(queue, entry);
  if (entry.count <= wanted) return entry;
  const rest = splitOff(entry, entry.from + wanted);
  putBack(queue, rest, "ready", entry.atMs);
  return entry;
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
    previous.firstReceivedMs !== entry.firstReceivedMs ||
    segment.seqOf(entry.from - 1) + 1 !== entry.seq
  ) {
    return false;
  }
  segment.removeEntry(entry);
  previous.to = entry.to;
  noteLeased(queue, entry);
  return true;
}
