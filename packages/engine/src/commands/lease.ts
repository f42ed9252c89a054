import { advance } from "../queue/advance.ts";
import { isolate } from "../queue/isolate.ts";
import type { Queue } from "../queue/queue.ts";
import { indexUntouched, lift, noteLeased, putBack, removeEntry, toLeased } from "../queue/transitions.ts";
import {
  Entry,
  Group,
  type LeaseKind,
  type Segment,
  type SegmentNode,
  type Slice,
  sliceOf,
  splitOff,
} from "../segments/segment.ts";

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

export interface LeaseRequest {
  /** Most messages. */
  readonly max: number;
  readonly expiresMs: number;
  readonly kind: LeaseKind;
  /** Most body bytes, but one message is always leased, however large. Default: no limit. */
  readonly bytesMax?: number;
}

/** Bytes that a message counts for besides its body: its record's header, and the data kept while it is moved. */
export const DEAD_MESSAGE_BYTES = 100;

/**
 * Dead messages that have left the queue. Their number is bounded: the caller that moves them holds all of them in
 * memory.
 */
export class DeadLetters {
  readonly slices: Slice[] = [];
  #room: number;

  constructor(bytesMax: number) {
    this.#room = bytesMax;
  }

  /** Whether no more messages may die for now. */
  get isFull(): boolean {
    return this.#room <= 0;
  }

  /** Bytes that there is room for. */
  get room(): number {
    return this.#room;
  }

  add({ segment, from, to, count }: Entry, slice: Slice): void {
    this.slices.push(slice);
    this.#room -= segment.bytes(from, to) + count * DEAD_MESSAGE_BYTES;
  }
}

/**
 * Leases the first `max` ready messages by (due time, sequence number), and counts an attempt of each. A message that
 * is too large for what is left of `bytesMax` ends the lease: none behind it passes it.
 *
 * @returns `null` when no message is ready.
 */
export function lease(queue: Queue, request: LeaseRequest, nowMs: number): Lease | null {
  return leaseOrDeadLetter(queue, request, nowMs, Infinity, new DeadLetters(Infinity));
}

/**
 * Leases as `lease` does, but messages that were delivered `deliveriesMax` times already leave the queue and are added
 * to `dead` (spec sqs 6.1). When `dead` is full the next of them ends the lease.
 */
export function leaseOrDeadLetter(
  queue: Queue,
  request: LeaseRequest,
  nowMs: number,
  deliveriesMax: number,
  dead: DeadLetters,
): Lease | null {
  advance(queue, nowMs);
  queue.order?.noteTime(nowMs);
  const taking: Taking = { request, nowMs, leaseId: queue.nextLeaseId, slices: [], count: 0, bytes: 0 };
  while (taking.count < request.max) {
    queue.order?.sortGroups(queue);
    const node = queue.ready.peek() ?? queue.order?.fallback();
    if (node === undefined) break;
    if (node instanceof Group) {
      if (!leaseFromGroup(queue, node, taking, deliveriesMax, dead)) break;
      continue;
    }
    if (node instanceof Entry && node.attempts >= deliveriesMax) {
      if (dead.isFull) break;
      lift(queue, node);
      deadLetter(queue, node, dead);
      continue;
    }
    const wanted = fitting(taking, node.segment, node instanceof Entry ? node.from : node.segment.cursor);
    if (wanted === 0) break;
    addTo(
      taking,
      queue,
      node instanceof Entry ? takeEntry(queue, node, wanted) : takeUntouched(queue, node, wanted),
    );
  }
  const { leaseId, slices, count, bytes } = taking;
  if (count === 0) return null;
  queue.nextLeaseId += 1;
  queue.deliveries += count;
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

/** Number of messages of a segment, from one on, that the lease has room for. */
function fitting({ request, count, bytes }: Taking, segment: Segment, from: number): number {
  const wanted = request.max - count;
  const { bytesMax } = request;
  if (bytesMax === undefined) return wanted;
  let room = bytesMax - bytes;
  const last = Math.min(wanted, segment.count - from);
  for (let fits = 0; fits < last; fits++) {
    room -= segment.bytes(from + fits, from + fits + 1);
    if (room < 0) return count === 0 ? Math.max(1, fits) : fits;
  }
  return wanted;
}

/** Takes the messages that a group can deliver, as far as they are wanted. Returns whether there is room for more. */
function leaseFromGroup(
  queue: Queue,
  group: Group,
  taking: Taking,
  deliveriesMax: number,
  dead: DeadLetters,
): boolean {
  const { messages } = group;
  let taken = 0;
  while (queue.order?.canDeliver(group, taken) === true) {
    const [segment, index] = [messages.segmentAt(taken), messages.indexAt(taken)];
    if (fitting(taking, segment, index) === 0) return false;
    if (dead.isFull && (segment.entryOf(index)?.attempts ?? 0) >= deliveriesMax) return false;
    const entry = isolate(queue, segment, index);
    if (entry.attempts >= deliveriesMax) {
      deadLetter(queue, entry, dead);
      // With another first message the group may have another place among the groups.
      if (taken === 0) return true;
    } else {
      addTo(taking, queue, entry);
      taken += 1;
    }
  }
  return true;
}

/** Adds an entry that is in no heap to the lease. */
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

function deadLetter(queue: Queue, entry: Entry, dead: DeadLetters): void {
  dead.add(entry, sliceOf(entry));
  removeEntry(queue, entry);
}

function continues(a: Slice, b: Slice): boolean {
  return a.segmentId === b.segmentId && a.to === b.from && a.attempts === b.attempts;
}

/** Takes up to `wanted` messages off the front of a ready entry; the others stay ready. */
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
 * Joins a leased entry to the one before it if both are one stretch of the same lease: fewer entries to keep and to
 * store. Their sequence numbers must be consecutive too, or a retry would change the order among messages of other
 * segments.
 *
 * @returns whether they were joined.
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
