import { expect, it } from "vitest";
import { checkInvariants } from "../../test/invariants.ts";
import { T0 } from "../../test/queues.ts";
import { Receivers } from "../../test/receivers.ts";
import { removeMessage } from "../commands/purge.ts";
import { Group, Segment } from "../segments/segment.ts";
import { groupAt } from "./group-order.ts";

it("the moment since which a message is visible is its own due time also where it shares an entry with others that were never delivered", () => {
  const queue = new Receivers({ fifo: true });
  queue.send("again-1", "early-1");
  expect(queue.receive(1, 0)).toEqual(["again-1"]);
  queue.nowMs = T0 + 10;
  queue.send("late-1", "gone-1");
  const [segment] = queue.queue.segments.values();
  if (segment === undefined) throw new Error("four were sent");
  removeMessage(queue.queue, { segmentId: segment.id, index: 3 });
  expect(segment.entries.map(({ from, to }) => [from, to])).toEqual([
    [0, 1],
    [1, 3],
  ]);
  expect(queue.receive(10)).toEqual(["early-1", "again-1", "late-1"]);
  checkInvariants(queue.queue);
});

it("the group of a message is known of every message of a segment that has groups, and of no other", () => {
  const segment = new Segment(7, new Uint32Array(2));
  expect(() => groupAt(segment, 0)).toThrow(new RangeError("message 0 of segment 7 has no group"));
  const group = new Group("a");
  segment.groups = [group];
  expect(groupAt(segment, 0)).toBe(group);
  expect(() => groupAt(segment, 1)).toThrow(new RangeError("message 1 of segment 7 has no group"));
});
