import type { Entry, Group, Segment } from "../segments/segment.ts";
import { type GroupOrder, type OrderedQueue, TrackedGroups, visibleSinceMs } from "./group-order.ts";

/**
 * Order of a FIFO queue (spec sqs 4.2): the messages of a group leave in the order in which they were sent, and none
 * while one before it is in flight or delayed. So a group can deliver a prefix: its messages up to the first that is
 * not ready. A group is ready while its first message is. Of several ready groups the one whose first message became
 * visible first leaves first.
 */
export class FifoOrder extends TrackedGroups implements GroupOrder {
  readonly heldBack: ReadonlySet<Group> = new Set();

  added(segment: Segment, from: number, to: number): void {
    this.each(segment, from, to, (group, i) => {
      group.remaining += 1;
      group.messages.insert(segment, i, 0);
    });
  }

  becameReady(segment: Segment, from: number, to: number): void {
    this.each(segment, from, to);
  }

  /** Does nothing: another call reports the messages' next state. */
  leftReady(): void {}

  removed(segment: Segment, from: number, to: number): void {
    this.each(segment, from, to, (group, i) => {
      group.remaining -= 1;
      group.messages.remove(segment, i, 0);
    });
  }

  sortGroups(queue: OrderedQueue): void {
    for (const group of this.changed) {
      if (group.remaining === 0) {
        queue.ready.remove(group);
        this.groups.delete(group.id);
        continue;
      }
      const [segment, i] = [group.messages.segmentAt(0), group.messages.indexAt(0)];
      const entry = segment.entryOf(i);
      if (!isReady(segment, i, entry)) {
        queue.ready.remove(group);
        continue;
      }
      group.atMs = visibleSinceMs(segment, i, entry);
      group.seq = segment.seqOf(i);
      if (group.at === -1) queue.ready.push(group);
      else queue.ready.update(group);
    }
    this.changed.clear();
  }

  fallback(): undefined {}

  /** Whether the message behind `taken` ones can leave; the taken ones stay in the list, since they are not gone. */
  canDeliver({ messages }: Group, taken: number): boolean {
    if (taken >= messages.length) return false;
    const [segment, i] = [messages.segmentAt(taken), messages.indexAt(taken)];
    return isReady(segment, i, segment.entryOf(i));
  }

  noteTime(): void {}
}

/** Whether message i, which is not gone, is ready, whatever the state of the messages before it. */
export function isReady(segment: Segment, i: number, entry: Entry | null): boolean {
  return entry === null ? i < segment.readyEnd : entry.state === "ready";
}
