import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstRangeOf, held, pull, queueOf, queueWith, sendApart, sendMany, T0 } from "../../test/queues.ts";
import { isSlotAwaited, nextBatch, nextBatchAt, nextWakeAt, type QueueRules, retry, send } from "../index.ts";

const FAR: Partial<QueueRules> = { retentionMs: 1_000_000_000, batchTimeoutMs: 5_000, maxBatchSize: 3 };

describe("nextWakeAt", () => {
  it("is never for an empty queue", () => {
    expect(nextWakeAt(queueWith(), true)).toBeNull();
    expect(nextWakeAt(queueWith(), false)).toBeNull();
  });

  it("is the end of the retention of the oldest message that waits", () => {
    const queue = queueWith({ retentionMs: 60_000 });
    sendMany(queue, 1, T0, T0 + 1);
    sendMany(queue, 1, T0 + 5);
    expect(nextWakeAt(queue, false)).toBe(T0 + 60_000);
  });

  it("is the earliest lease expiry", () => {
    const queue = queueOf(3, FAR);
    pull(queue, 1, T0, T0 + 900);
    pull(queue, 1, T0, T0 + 700);
    pull(queue, 1, T0, T0 + 800);
    expect(nextWakeAt(queue, false)).toBe(T0 + 700);
  });

  it("is the earlier of lease expiry and retention", () => {
    const queue = queueOf(2, { retentionMs: 60_000 });
    pull(queue, 1, T0, T0 + 59_999);
    expect(nextWakeAt(queue, false)).toBe(T0 + 59_999);
    pull(queue, 1, T0, T0 + 99_999);
    expect(nextWakeAt(queue, false)).toBe(T0 + 59_999);
  });

  it("is the batch timeout of the first ready message", () => {
    const queue = queueOf(1, FAR);
    sendMany(queue, 1, T0 + 9);
    expect(nextWakeAt(queue, true)).toBe(T0 + 5_000);
    expect(nextWakeAt(queue, false)).toBe(T0 + 1_000_000_000);
  });

  it("is the batch timeout of the first delayed message when none is ready", () => {
    const queue = queueWith(FAR);
    sendMany(queue, 1, T0, T0 + 700);
    expect(nextWakeAt(queue, true)).toBe(T0 + 5_700);
  });

  it("is the past when a full batch is ready", () => {
    const queue = queueOf(3, FAR);
    expect(nextWakeAt(queue, true)).toBe(T0);
  });

  it("is the moment at which delayed messages fill the batch", () => {
    const queue = queueOf(1, FAR);
    sendMany(queue, 1, T0, T0 + 300);
    expect(nextWakeAt(queue, true)).toBe(T0 + 5_000);
    sendMany(queue, 1, T0, T0 + 900);
    expect(nextWakeAt(queue, true)).toBe(T0 + 900);
    sendMany(queue, 1, T0, T0 + 200);
    expect(nextWakeAt(queue, true)).toBe(T0 + 300);
  });

  it("does not wait for a batch to fill after its timeout", () => {
    const queue = queueOf(1, FAR);
    for (const delay of [4_999, 5_001]) sendMany(queue, 1, T0, T0 + delay);
    expect(nextWakeAt(queue, true)).toBe(T0 + 5_000);
  });

  it("knows nothing of batches while no slot is free", () => {
    const queue = queueOf(6, { ...FAR, pushLeaseMs: 900_000 });
    held(nextBatch(queue, T0));
    expect(nextWakeAt(queue, true)).toBe(T0 + 900_000);
  });

  it("counts retried messages that are delayed", () => {
    const queue = queueOf(3, FAR);
    const range = firstRangeOf(pull(queue, 3));
    retry(queue, { ...range, to: 2 }, T0 + 400, T0);
    expect(nextWakeAt(queue, true)).toBe(T0 + 5_400);
    retry(queue, range, T0 + 100, T0);
    expect(nextWakeAt(queue, true)).toBe(T0 + 400);
  });

  it("finds the message that fills the batch in any mixture of runs, segments and retried messages", () => {
    const delays = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 5 });
    const command = fc.oneof(
      delays.map((dues) => ({ kind: "send" as const, dues })),
      delays.map((dues) => ({ kind: "retry" as const, dues })),
    );
    fc.assert(
      fc.property(
        fc.array(command, { maxLength: 8, size: "max" }),
        fc.integer({ min: 1, max: 12 }),
        (all, size) => {
          const queue = queueWith({ ...FAR, maxBatchSize: size, batchTimeoutMs: 1_000_000 });
          const dues: number[] = [];
          for (const { kind, dues: delaysMs } of all) {
            if (kind === "send") {
              const dueMs = delaysMs.map((delay) => T0 + 1 + delay);
              send(queue, { sizes: dueMs.map(() => 1), dueMs }, T0);
              dues.push(...dueMs);
            } else {
              sendApart(queue, delaysMs.length);
              const range = firstRangeOf(pull(queue, delaysMs.length));
              for (const [i, delay] of delaysMs.entries()) {
                retry(queue, { ...range, from: i, to: i + 1 }, T0 + 1 + delay, T0);
                dues.push(T0 + 1 + delay);
              }
            }
          }
          dues.sort((a, b) => a - b);
          const first = dues[0];
          const expected = first === undefined ? null : (dues[size - 1] ?? first + 1_000_000);
          expect(nextWakeAt(queue, true)).toBe(expected);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("nextBatchAt", () => {
  it("is the batch timeout of the first message, whatever lease or retention ends before", () => {
    const queue = queueOf(2, { ...FAR, retentionMs: 1_000 });
    pull(queue, 1, T0, T0 + 700);
    expect(nextBatchAt(queue)).toBe(T0 + 5_000);
  });

  it("is never while no message waits, and while no further delivery may run", () => {
    const queue = queueWith({ ...FAR, maxConcurrency: 1 });
    expect(nextBatchAt(queue)).toBeNull();
    sendMany(queue, 4);
    expect(nextBatchAt(queue)).toBe(T0);
    nextBatch(queue, T0);
    expect(nextBatchAt(queue)).toBeNull();
  });
});

describe("isSlotAwaited", () => {
  const rules = { maxBatchSize: 2, batchTimeoutMs: 100, maxConcurrency: 1 };

  /** A queue whose one slot is taken by a delivery of two messages. */
  function delivering(changes: Partial<QueueRules> = {}) {
    const queue = queueOf(2, { ...rules, ...changes });
    held(nextBatch(queue, T0));
    return queue;
  }

  it("is no when nothing waits", () => {
    expect(isSlotAwaited(delivering(), T0 + 1_000_000)).toBe(false);
  });

  it("is yes when a full batch is ready", () => {
    const queue = delivering();
    sendMany(queue, 2);
    expect(isSlotAwaited(queue, T0)).toBe(true);
  });

  it.each([
    [99, false],
    [100, true],
    [101, true],
  ])(
    "isSlotAwaited with a message whose batch timeout ends in 100 ms, until %i ms from now: %s",
    (ms, awaited) => {
      const queue = delivering();
      sendMany(queue, 1);
      expect(isSlotAwaited(queue, T0 + ms)).toBe(awaited);
    },
  );

  it.each([
    [49, false],
    [50, true],
    [51, true],
  ])(
    "isSlotAwaited with delayed messages that fill a batch in 50 ms, until %i ms from now: %s",
    (ms, awaited) => {
      const queue = delivering();
      sendMany(queue, 2, T0, T0 + 50);
      expect(isSlotAwaited(queue, T0 + ms)).toBe(awaited);
    },
  );

  it("is yes on a FIFO queue as soon as anything waits: it may be behind the messages of the delivery", () => {
    const queue = queueWith({ ...rules, fifo: true, batchTimeoutMs: 1_000_000 });
    const one = { sizes: [1], dueMs: T0, groups: ["g"] };
    send(queue, one, T0);
    send(queue, one, T0);
    held(nextBatch(queue, T0));
    expect(isSlotAwaited(queue, T0)).toBe(false);
    send(queue, one, T0);
    expect(isSlotAwaited(queue, T0)).toBe(true);
    send(queue, { ...one, dueMs: T0 + 1_000 }, T0);
    expect(isSlotAwaited(queue, T0)).toBe(true);
  });
});
