import { expect, it } from "vitest";
import { held, pull, queueWith, rangesOf, rowsOf, sendMany, T0 } from "../../test/queues.ts";
import { countAttempts, counts, nextBatch, restoreSegment, retry, send } from "../index.ts";

it("countAttempts counts deliveries that a message had elsewhere, and leaves it and its neighbours where they are", () => {
  const queue = queueWith({ batchTimeoutMs: 0 });
  const segmentId = sendMany(queue, 3);
  const { nextLeaseId } = queue;
  countAttempts(queue, { segmentId, index: 1 }, 2, T0);
  expect(queue.nextLeaseId).toBe(nextLeaseId + 1);
  expect(counts(queue)).toMatchObject({ ready: 3, delayed: 0 });
  expect(pull(queue, 9).slices).toEqual([
    { segmentId, from: 0, to: 1, attempts: 1 },
    { segmentId, from: 1, to: 2, attempts: 3 },
    { segmentId, from: 2, to: 3, attempts: 1 },
  ]);
});

it("countAttempts leaves a message delayed until it is due", () => {
  const queue = queueWith({ batchTimeoutMs: 0 });
  const segmentId = sendMany(queue, 2, T0, T0 + 60_000);
  countAttempts(queue, { segmentId, index: 0 }, 1, T0);
  expect(counts(queue)).toMatchObject({ ready: 0, delayed: 2 });
  expect(nextBatch(queue, T0 + 59_999)).toBeNull();
  expect(nextBatch(queue, T0 + 60_000)?.slices).toEqual([
    { segmentId, from: 0, to: 1, attempts: 2 },
    { segmentId, from: 1, to: 2, attempts: 1 },
  ]);
});

it("countAttempts lets a message die of attempts that it had before", () => {
  const queue = queueWith({ batchTimeoutMs: 0, maxRetries: 3 });
  const segmentId = sendMany(queue, 1);
  countAttempts(queue, { segmentId, index: 0 }, 3, T0);
  const ranges = rangesOf(held(nextBatch(queue, T0)));
  const [range] = ranges;
  expect(range && retry(queue, range, T0, T0)).toMatchObject({ retried: [], dead: [{ from: 0, to: 1 }] });
});

it("countAttempts keeps the order of a group", () => {
  const queue = queueWith({ fifo: true, batchTimeoutMs: 0 });
  const { segmentId } = send(queue, { sizes: [1, 1], dueMs: T0, groups: ["g", "g"] }, T0);
  countAttempts(queue, { segmentId, index: 1 }, 5, T0);
  countAttempts(queue, { segmentId, index: 0 }, 1, T0);
  const slices = nextBatch(queue, T0)?.slices;
  expect(slices?.map(({ from, attempts }) => [from, attempts])).toEqual([
    [0, 2],
    [1, 6],
  ]);
});

it("countAttempts is stored", () => {
  const queue = queueWith({ batchTimeoutMs: 0 });
  const segmentId = sendMany(queue, 2);
  countAttempts(queue, { segmentId, index: 1 }, 2, T0);
  const restored = queueWith({ batchTimeoutMs: 0 });
  for (const { id, index, state } of rowsOf(queue)) restoreSegment(restored, id, index, state, T0);
  expect(pull(restored, 9).slices).toMatchObject([{ attempts: 1 }, { attempts: 3 }]);
});

it("countAttempts refuses a segment that is not there", () => {
  const refused = new RangeError("there is no segment 9");
  expect(() => countAttempts(queueWith(), { segmentId: 9, index: 0 }, 1, T0)).toThrow(refused);
});
