import { expect, it } from "vitest";
import { queueWith, sendMany, T0 } from "../../test/queues.ts";
import { acknowledge, counts, lease, type Slice, takeChanges } from "../index.ts";
import { removeMessage } from "./purge.ts";

it("removeMessage deletes a message that waits and leaves those around it where they are", () => {
  const queue = queueWith();
  const segmentId = sendMany(queue, 3);
  expect(removeMessage(queue, { segmentId, index: 1 })).toBe(true);
  const rest = lease(queue, { max: 10, expiresMs: T0 + 1, kind: "pull" }, T0);
  expect(rest?.slices.map(({ from, to }) => [from, to])).toEqual([
    [0, 1],
    [2, 3],
  ]);
});

it("removeMessage names the message with its deliveries, and none that was not there", () => {
  const queue = queueWith();
  const segmentId = sendMany(queue, 3);
  const named: Slice[] = [];
  lease(queue, { max: 1, expiresMs: T0 + 1, kind: "pull" }, T0);
  for (const index of [2, 0, 0]) removeMessage(queue, { segmentId, index }, (slice) => named.push(slice));
  expect(named).toEqual([
    { segmentId, from: 2, to: 3, attempts: 0 },
    { segmentId, from: 0, to: 1, attempts: 1 },
  ]);
});

it("removeMessage deletes a leased message, whose settlement then finds nothing", () => {
  const queue = queueWith();
  const segmentId = sendMany(queue, 1);
  const leaseId = lease(queue, { max: 1, expiresMs: T0 + 1, kind: "pull" }, T0)?.leaseId ?? 0;
  expect(removeMessage(queue, { segmentId, index: 0 })).toBe(true);
  expect(acknowledge(queue, { leaseId, segmentId, from: 0, to: 1 })).toBe(0);
  expect(counts(queue)).toMatchObject({ ready: 0, delayed: 0, leased: 0 });
  expect(takeChanges(queue)).toEqual([]);
});

it.each([
  ["a segment that is not there", 99, 0],
  ["a position behind the last message", 0, 2],
])("removeMessage says of %s that it was not there", (_what, offset, index) => {
  const queue = queueWith();
  const segmentId = sendMany(queue, 2) + offset;
  expect(removeMessage(queue, { segmentId, index })).toBe(false);
  expect(counts(queue).ready).toBe(2);
});
