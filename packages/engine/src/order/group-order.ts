import type { TimeHeap } from "../segments/heap.ts";
import { type Entry, Group, type Segment, type SegmentNode } from "../segments/segment.ts";

/** Parts of a queue that an order of groups reads. */
export interface OrderedQueue {
  /** Waiting and due, in order of leaving. */
  readonly ready: TimeHeap<Entry | SegmentNode | Group>;
  readonly leasedCount: number;
}

/**
 * Decides in which order the messages of groups leave. `transitions.ts`, and code that moves a segment's cursor, report
 * every change of a message of a grouped segment. The ready messages of such segments are in no heap themselves.
 */
export interface GroupOrder {
  readonly groups: ReadonlyMap<string, Group>;
  /** The group of that name, a new one if there is none. */
  groupOf(id: string): Group;
  /** Messages [from, to) are there, in no state yet. */
  added(segment: Segment, from: number, to: number, nowMs: number): void;
  /** Messages became ready, as part of an entry or untouched (`null`). */
  becameReady(segment: Segment, from: number, to: number, entry: Entry | null): void;
  /** Messages that were ready are not any more. */
  leftReady(segment: Segment, from: number, to: number, entry: Entry | null): void;
  /** `count` of each group's messages in [from, to) were leased (1), or a lease of them has ended (-1). */
  leaseChanged(segment: Segment, from: number, to: number, by: 1 | -1): void;
  /** Messages are gone. */
  removed(segment: Segment, from: number, to: number): void;
  /** Puts groups whose messages have changed in their places: call before looking at `queue.ready`. */
  sortGroups(queue: OrderedQueue): void;
  /** The group to lease from when `queue.ready` is empty. */
  fallback(): Group | undefined;
  /** Groups whose ready messages leave only while nothing else is ready. */
  readonly heldBack: ReadonlySet<Group>;
  /** Whether a lease that has taken the first `taken` messages of a group may take the next one too. */
  canDeliver(group: Group, taken: number): boolean;
  /** Notes the time when a lease begins: a noisy group may be quiet by now. */
  noteTime(nowMs: number): void;
}

/** When message i became visible, in ms: its due time, which a delivery or a call by hand may have set anew. */
export function visibleSinceMs(segment: Segment, i: number, entry: Entry | null): number {
  return entry === null || entry.leaseId === 0 ? segment.dueOf(i) : entry.atMs;
}

/** The group of message i of a segment with groups. */
export function groupAt(segment: Segment, i: number): Group {
  const group = segment.groups?.[i];
  if (group === undefined) throw new RangeError(`message ${i} of segment ${segment.id} has no group`);
  return group;
}

/**
 * The groups of a queue's messages, and which of them have changed since they were put in order: the part that both
 * orders share.
 */
export abstract class TrackedGroups {
  readonly groups = new Map<string, Group>();
  /** Groups of which a message has changed since the last `sortGroups`. */
  protected readonly changed = new Set<Group>();

  groupOf(id: string): Group {
    const known = this.groups.get(id);
    if (known !== undefined) return known;
    const group = new Group(id);
    this.groups.set(id, group);
    return group;
  }

  leaseChanged(segment: Segment, from: number, to: number, by: 1 | -1): void {
    this.each(segment, from, to, (group) => {
      group.inFlight += by;
    });
  }

  /** Calls `change` with the group of each message in [from, to), and notes that the group has changed. */
  protected each(
    segment: Segment,
    from: number,
    to: number,
    change?: (group: Group, i: number) => void,
  ): void {
    for (let i = from; i < to; i++) {
      const group = groupAt(segment, i);
      change?.(group, i);
      this.changed.add(group);
    }
  }
}
