import { advanceSegment } from "../queue/advance.ts";
import { noteChange, orderOf, type Queue } from "../queue/queue.ts";
import { NO_GROUP, Segment } from "../segments/segment.ts";

/**
 * Segments up to this many bytes take further messages: a trickle of single sends shares one row and one delete. An
 * append writes the whole row again. A row that outgrows one page of the database (4,096 bytes) takes pages of its own,
 * which are freed and taken anew each time: measured, a send into such a row takes a tenth longer. So a row ends
 * before.
 */
export const TAIL_BYTES_MAX = 3_700;
/**
 * Bytes of `TAIL_BYTES_MAX` that a message takes beside its body: 40 bytes of its record, 8 of checksum and length, 2
 * of its size here, and 20 of a run of its own when nothing else was sent in its millisecond.
 */
export const TAIL_BYTES_PER_MESSAGE = 70;
/** Segments that are open for appending at a time. Messages with different delays need different ones. */
export const TAILS_MAX = 4;

/** Messages to store. */
export interface NewMessages {
  /** Size of each body in bytes. */
  readonly sizes: readonly number[];
  /** Due time of each message in ms, or one for all. */
  readonly dueMs: number | readonly number[];
  /** Group of each message; `null` or nothing for one that names none. Absent as a whole when none of them does. */
  readonly groups?: readonly (string | null)[];
  /**
   * Moment in ms from which each message's retention counts, at most `nowMs`: of dead letters their send. Default
   * `nowMs`.
   */
  readonly acceptedMs?: readonly number[];
}

/** Segment that the messages went to, and how the store has to write their bytes. */
export interface Placement {
  readonly segmentId: number;
  /** Index of the first new message in the segment: 0 for a new segment. */
  readonly from: number;
  /**
   * Positions of the given messages in the order in which their records have to be written, or `null` if that is the
   * order in which they came. The records of a segment are in order of due time.
   */
  readonly order: readonly number[] | null;
}

/** Takes messages into the queue: they are `ready` if they are due, otherwise `delayed`. */
export function send(queue: Queue, messages: NewMessages, nowMs: number): Placement {
  const { sizes, dueMs, groups } = messages;
  const count = sizes.length;
  if (count === 0) throw new RangeError("nothing to send");
  const dueOf = (i: number) => (typeof dueMs === "number" ? dueMs : (dueMs[i] ?? nowMs));
  const order = orderByDue(count, dueOf);
  const position = (i: number) => (order === null ? i : (order[i] as number)); // order has `count` positions

  const firstDueMs = dueOf(position(0));
  const sorted = new Uint32Array(count);
  for (let i = 0; i < count; i++) sorted[i] = sizes[position(i)] ?? 0;

  const isGrouped = groups !== undefined || queue.isFifo;
  noteAges(queue, messages.acceptedMs ?? [], nowMs);
  const segment = openSegment(queue, firstDueMs, sorted, isGrouped);
  const from = segment.count - count;
  for (let i = 0; i < count; i++) {
    const acceptedMs = messages.acceptedMs?.[position(i)] ?? nowMs;
    segment.runs.append(from + i, queue.nextSeq + position(i), dueOf(position(i)), acceptedMs);
  }
  queue.nextSeq += count;
  queue.waitingBytes += segment.bytes(from, segment.count);
  queue.delayedCount += count;
  if (isGrouped) addToGroups(queue, segment, from, (i) => groups?.[position(i - from)] ?? NO_GROUP, nowMs);
  advanceSegment(queue, segment, nowMs);
  return { segmentId: segment.id, from, order };
}

/** Keeps `queue.isAgeOrdered` true to messages that come in. */
function noteAges(queue: Queue, acceptedMs: readonly number[], nowMs: number): void {
  if (acceptedMs.some((ms) => ms < nowMs)) queue.isAgeOrdered = false;
  else if (queue.segments.size === 0) queue.isAgeOrdered = true;
}

/** Gives messages [from, end) of a segment their groups. */
export function addToGroups(
  queue: Queue,
  segment: Segment,
  from: number,
  groupIdOf: (i: number) => string,
  nowMs: number,
): void {
  const order = orderOf(queue);
  segment.groups ??= [];
  for (let i = from; i < segment.count; i++) segment.groups.push(order.groupOf(groupIdOf(i)));
  order.added(segment, from, segment.count, nowMs);
}

function orderByDue(count: number, dueOf: (i: number) => number): number[] | null {
  let inOrder = true;
  for (let i = 1; i < count && inOrder; i++) inOrder = dueOf(i - 1) <= dueOf(i);
  if (inOrder) return null;
  // Sorting is stable: messages that are due together keep the order in which they came.
  return Array.from({ length: count }, (_, i) => i).sort((a, b) => dueOf(a) - dueOf(b));
}

/**
 * Chooses the segment that takes the messages: the tail with the latest last due time that is not after theirs, or a
 * new one.
 */
function openSegment(queue: Queue, firstDueMs: number, sizes: Uint32Array, isGrouped: boolean): Segment {
  let best: Segment | undefined;
  for (const tail of queue.tails) {
    if ((tail.groups !== null) !== isGrouped) continue;
    if (tail.lastDueMs <= firstDueMs && (best === undefined || tail.lastDueMs > best.lastDueMs)) best = tail;
  }
  if (best !== undefined) {
    const grown = new Uint32Array(best.count + sizes.length);
    grown.set(best.sizes);
    grown.set(sizes, best.count);
    best.sizes = grown;
    best.remaining += sizes.length;
    noteChange(queue, best, "appended");
    closeIfFull(queue, best);
    return best;
  }
  const segment = new Segment(queue.nextSegmentId++, sizes);
  queue.segments.set(segment.id, segment);
  noteChange(queue, segment, "created");
  queue.tails.push(segment);
  if (queue.tails.length > TAILS_MAX) queue.tails.shift();
  closeIfFull(queue, segment);
  return segment;
}

/** Closes a full tail. */
function closeIfFull(queue: Queue, segment: Segment): void {
  if (segment.bytes(0, segment.count) + TAIL_BYTES_PER_MESSAGE * segment.count < TAIL_BYTES_MAX) return;
  queue.tails.splice(queue.tails.indexOf(segment), 1);
}
