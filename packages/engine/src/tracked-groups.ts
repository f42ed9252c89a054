import { Group } from "./group.ts";
import { groupAt } from "./group-order.ts";
import type { Segment } from "./segment.ts";

/** The groups that messages are of, and which of them have changed since they were put in order: what every order needs. */
export abstract class TrackedGroups {
  readonly groups = new Map<string, Group>();
  /** Groups of which a message has changed since the last `settle`. */
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

  /** Changes the group of each message in [from, to). */
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
