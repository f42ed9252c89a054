import { TimeHeap } from "../segments/heap.ts";
import { type Entry, type Group, NO_GROUP, type Segment } from "../segments/segment.ts";
import { type GroupOrder, type OrderedQueue, TrackedGroups, visibleSinceMs } from "./group-order.ts";

/** A tenant is noisy with more than this share of all messages in flight, ... */
const NOISY_SHARE = 0.1;
/** ... if it has at least as many of its own in flight (spec sqs 8). */
export const NOISY_IN_FLIGHT_MIN = 30;
/** A noisy tenant that has sent nothing for this long is quiet again, in ms (spec sqs 8). */
export const QUIET_AFTER_MS = 300_000;

/**
 * Order of a standard queue whose messages name groups (spec sqs 8): the groups are tenants, and the messages of a
 * noisy one leave only while nothing else is ready. Nothing is blocked, and without a noisy tenant messages leave by
 * due time, as without groups.
 */
export class FairOrder extends TrackedGroups implements GroupOrder {
  /** Noisy groups with messages that are ready: fewest in flight first. */
  readonly #noisy = new TimeHeap<Group>();
  readonly heldBack = new Set<Group>();
  #nowMs = 0;

  added(segment: Segment, from: number, to: number, nowMs: number): void {
    this.each(segment, from, to, (group) => {
      group.remaining += 1;
      group.sentMs = Math.max(group.sentMs, nowMs);
    });
  }

  becameReady(segment: Segment, from: number, to: number, entry: Entry | null): void {
    this.each(segment, from, to, (group, i) =>
      group.messages.insert(segment, i, visibleSinceMs(segment, i, entry)),
    );
  }

  leftReady(segment: Segment, from: number, to: number, entry: Entry | null): void {
    this.each(segment, from, to, (group, i) =>
      group.messages.remove(segment, i, visibleSinceMs(segment, i, entry)),
    );
  }

  removed(segment: Segment, from: number, to: number): void {
    this.each(segment, from, to, (group) => {
      group.remaining -= 1;
    });
  }

  sortGroups(queue: OrderedQueue): void {
    for (const group of this.changed) this.#index(queue, group);
    this.changed.clear();
  }

  fallback(): Group | undefined {
    return this.#noisy.peek();
  }

  /** One at a time: the next message may be another tenant's. */
  canDeliver(_group: Group, taken: number): boolean {
    return taken === 0;
  }

  noteTime(nowMs: number): void {
    this.#nowMs = nowMs;
    for (const group of this.heldBack) if (!sendsStill(group, nowMs)) this.changed.add(group);
  }

  #index(queue: OrderedQueue, group: Group): void {
    const { messages } = group;
    const wasNoisy = this.heldBack.has(group);
    this.#takeOut(queue, group);
    if (group.remaining === 0) this.groups.delete(group.id);
    // A tenant whose backlog is drained is quiet again.
    if (messages.length === 0) return;
    group.seq = messages.segmentAt(0).seqOf(messages.indexAt(0));
    if (isNoisy(queue.leasedCount, group, wasNoisy, this.#nowMs)) {
      group.atMs = group.inFlight;
      this.heldBack.add(group);
      this.#noisy.push(group);
    } else {
      group.atMs = messages.timeAt(0);
      queue.ready.push(group);
    }
  }

  #takeOut(queue: OrderedQueue, group: Group): void {
    if (this.heldBack.delete(group)) this.#noisy.remove(group);
    else queue.ready.remove(group);
  }
}

/** Fields of a group that decide whether it is noisy. */
type Tenant = Pick<Group, "id" | "inFlight" | "sentMs">;

/** Whether a group with ready messages is noisy: it becomes so when it is too busy, and stays so until it is quiet. */
export function isNoisy(leasedCount: number, group: Tenant, wasNoisy: boolean, nowMs: number): boolean {
  return sendsStill(group, nowMs) && (wasNoisy || isTooBusy(leasedCount, group));
}

function sendsStill({ sentMs }: Tenant, nowMs: number): boolean {
  return nowMs - sentMs < QUIET_AFTER_MS;
}

/** A message without a group is a tenant of its own, so all of them together are never noisy. */
function isTooBusy(leasedCount: number, { id, inFlight }: Tenant): boolean {
  return id !== NO_GROUP && inFlight >= NOISY_IN_FLIGHT_MIN && inFlight > NOISY_SHARE * leasedCount;
}
