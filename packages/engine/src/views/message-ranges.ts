import type { MessagePosition } from "../commands/purge.ts";
import { isReady } from "../order/fifo-order.ts";
import { groupAt } from "../order/group-order.ts";
import type { Queue } from "../queue/queue.ts";
import type { EntryState, Group, LeaseKind, Segment } from "../segments/segment.ts";

/** Messages [from, to) of a segment that are in the same state, with the same attempts and time. */
export interface MessageRange {
  readonly segmentId: number;
  readonly from: number;
  readonly to: number;
  readonly state: EntryState;
  /** Deliveries so far, the running one included. */
  readonly attempts: number;
  /** Waiting: due time. Leased: end of the lease. In ms. */
  readonly atMs: number;
  /** Kind of the lease that holds them; `null` for messages that wait. */
  readonly leaseKind: LeaseKind | null;
}

/**
 * Goes through all messages, in order of their places: by segment, oldest first, and in it by due time. Call `advance`
 * first, and change nothing until the last range was taken.
 *
 * @param after place to begin behind, whether there is a message or not. Default: at the first one.
 */
export function* messageRanges(queue: Queue, after?: MessagePosition): Generator<MessageRange, undefined> {
  for (const segment of queue.segments.values()) {
    if (after !== undefined && segment.id < after.segmentId) continue;
    yield* rangesIn(segment, segment.id === after?.segmentId ? after.index + 1 : 0);
  }
}

/** The range of the one message at a place; `null` when it is gone. Call `advance` first. */
export function rangeAt(queue: Queue, { segmentId, index }: MessagePosition): MessageRange | null {
  const segment = queue.segments.get(segmentId);
  if (segment === undefined || !segment.has(index)) return null;
  const [range] = rangesIn(segment, index);
  return range === undefined ? null : { ...range, to: index + 1 };
}

function* rangesIn(segment: Segment, begin: number): Generator<MessageRange, undefined> {
  const { id: segmentId, entries, cursor, readyEnd, count } = segment;
  for (let at = segment.entryAt(begin); ; at++) {
    const entry = entries[at];
    if (entry === undefined) break;
    const { state, attempts, atMs, to } = entry;
    const leaseKind = state === "leased" ? entry.leaseKind : null;
    yield { segmentId, from: Math.max(begin, entry.from), to, state, attempts, atMs, leaseKind };
  }
  for (let from = Math.max(begin, cursor); from < count; ) {
    const to = segment.runEnd(from);
    const state = from < readyEnd ? "ready" : "delayed";
    yield { segmentId, from, to, state, attempts: 0, atMs: segment.dueOf(from), leaseKind: null };
    from = to;
  }
}

/** When a message was accepted, in ms: its retention counts from then. `null` for a segment that is gone. */
export function acceptedMsAt(queue: Queue, { segmentId, index }: MessagePosition): number | null {
  return queue.segments.get(segmentId)?.acceptedOf(index) ?? null;
}

/** Whether a message's group is noisy (spec sqs 8): its messages leave when nothing else is ready. */
export function isHeldBack(queue: Queue, position: MessagePosition): boolean {
  const group = groupOf(queue, position);
  return group !== undefined && queue.order?.heldBack.has(group) === true;
}

/** The group of a message; `null` where it names none. */
export function groupIdAt(queue: Queue, position: MessagePosition): string | null {
  return groupOf(queue, position)?.id || null;
}

function groupOf(queue: Queue, { segmentId, index }: MessagePosition): Group | undefined {
  return queue.segments.get(segmentId)?.groups?.[index];
}

/**
 * Finds the message of a FIFO queue's group that keeps another one from leaving: the first that is not ready blocks all
 * behind it. It remembers how far it has looked in each group, so the blockers of many messages cost as much as that of
 * the last one.
 */
export class Blockers {
  readonly #queue: Queue;
  readonly #looked = new Map<Group, number>();

  constructor(queue: Queue) {
    this.#queue = queue;
  }

  /** The first message of the group that is not ready, if it stands before this one; else `null`. */
  of(position: MessagePosition): MessagePosition | null {
    const segment = this.#queue.segments.get(position.segmentId);
    if (!this.#queue.isFifo || segment === undefined) return null;
    const group = groupAt(segment, position.index);
    const { messages } = group;
    const seq = segment.seqOf(position.index);
    for (let place = this.#looked.get(group) ?? 0; place < messages.length; place++) {
      this.#looked.set(group, place);
      const [at, index] = [messages.segmentAt(place), messages.indexAt(place)];
      if (at.seqOf(index) >= seq) return null;
      if (!isReady(at, index, at.entryOf(index))) return { segmentId: at.id, index };
    }
    return null;
  }

  /** The first message of its group, if that is another one. */
  firstOf(position: MessagePosition): MessagePosition | null {
    const group = groupOf(this.#queue, position);
    if (!this.#queue.isFifo || group === undefined || group.messages.length === 0) return null;
    const [first, index] = [group.messages.segmentAt(0), group.messages.indexAt(0)];
    return first.id === position.segmentId && index === position.index
      ? null
      : { segmentId: first.id, index };
  }
}
