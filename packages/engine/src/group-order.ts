import type { Entry } from "./entry.ts";
import type { Group } from "./group.ts";
import type { Queue } from "./queue.ts";
import type { Segment } from "./segment.ts";

/**
 * In which order the messages of groups leave. Told of every change of a message of a grouped segment by
 * `transitions.ts` and those that move its cursor; ready messages of these segments are in no heap themselves.
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
  /** Puts the groups in order after changes: call before looking at `queue.ready`. */
  settle(queue: Queue): void;
  /** Within a lease: the group to take from when `queue.ready` is empty. */
  fallback(): Group | undefined;
  /** Within a lease that has taken `taken` messages of a group that is first: whether it may take the next one too. */
  canDeliver(group: Group, taken: number): boolean;
  /** At the begin of a lease: time may have changed what a group is. */
  pass(queue: Queue, nowMs: number): void;
}

/** When message i became visible: when it was due, or, once it was delivered, the due time that it was given then. */
export function visibleSinceMs(segment: Segment, i: number, entry: Entry | null): number {
  return entry === null || entry.attempts === 0 ? segment.dueOf(i) : entry.atMs;
}

/** The groups of a segment that has them. */
export function groupAt(segment: Segment, i: number): Group {
  const group = segment.groups?.[i];
  if (group === undefined) throw new RangeError(`message ${i} of segment ${segment.id} has no group`);
  return group;
}
