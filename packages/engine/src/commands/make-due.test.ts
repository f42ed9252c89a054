import { expect, it } from "vitest";
import { held, pull, queueWith, rangesOf, sendMany, T0 } from "../../test/queues.ts";
import {
  acknowledge,
  counts,
  lease,
  makeDue,
  nextBatch,
  nextWakeAt,
  release,
  retry,
  send,
} from "../index.ts";

it("makeDue takes a message out of its delay, and leaves those around it", () => {
  const queue = queueWith();
  const segmentId = sendMany(queue, 3, T0, T0 + 60_000);
  expect(makeDue(queue, { segmentId, index: 1 }, T0 + 5)).toBe("due");
  expect(counts(queue)).toMatchObject({ ready: 1, delayed: 2 });
  expect(lease(queue, { max: 9, expiresMs: T0 + 100, kind: "pull" }, T0 + 5)?.slices).toEqual([
    { segmentId, from: 1, to: 2, attempts: 1 },
  ]);
});

it("makeDue keeps a message due that is released by a consumer which was not there", () => {
  const queue = queueWith({ batchTimeoutMs: 0 });
  const segmentId = sendMany(queue, 1, T0, T0 + 60_000);
  makeDue(queue, { segmentId, index: 0 }, T0);
  const batch = held(nextBatch(queue, T0));
  for (const range of rangesOf(batch)) release(queue, range, T0 + 10, T0 + 10);
  expect(counts(queue)).toMatchObject({ ready: 1, delayed: 0 });
});

it("makeDue ends a lease: its settlement finds nothing, and the delivery counts", () => {
  const queue = queueWith({ maxRetries: 0 });
  const segmentId = sendMany(queue, 2);
  const ranges = rangesOf(pull(queue, 2));
  expect(makeDue(queue, { segmentId, index: 0 }, T0)).toBe("due");
  expect(ranges.reduce((sum, range) => sum + acknowledge(queue, range), 0)).toBe(1);
  expect(pull(queue, 1).slices).toEqual([{ segmentId, from: 0, to: 1, attempts: 2 }]);
  for (const range of ranges) expect(retry(queue, range, T0, T0)).toEqual({ retried: [], dead: [] });
});

it("makeDue of a FIFO queue lets the group's first message go by the time at which it was made due", () => {
  const queue = queueWith({ fifo: true, batchTimeoutMs: 100 });
  const { segmentId } = send(queue, { sizes: [1, 1], dueMs: T0 + 60_000, groups: ["g", "g"] }, T0);
  makeDue(queue, { segmentId, index: 0 }, T0);
  expect(nextWakeAt(queue, true)).toBe(T0 + 100);
  expect(nextBatch(queue, T0 + 100)?.slices).toEqual([{ segmentId, from: 0, to: 1, attempts: 1 }]);
});

it("makeDue leaves what is ready in its place, and says what is gone", () => {
  const queue = queueWith();
  const segmentId = sendMany(queue, 2);
  pull(queue, 1);
  expect(makeDue(queue, { segmentId, index: 1 }, T0)).toBe("wasDue");
  expect(makeDue(queue, { segmentId, index: 2 }, T0)).toBe("gone");
  expect(makeDue(queue, { segmentId: 1, index: 0 }, T0)).toBe("gone");
});
