import { describe, expect, it } from "vitest";
import { held, queueOf, queueWith, rangesOf, sendMany, T0 } from "../../test/queues.ts";
import { acknowledge, counts, type Lease, nextBatch, pushEnded, type Queue, send } from "../index.ts";
import { DELIVERY_BYTES_MAX, hasPushSlot, PUSH_BYTES_MAX } from "./dispatch.ts";

function finish(queue: Queue, batch: Lease, end: "ok" | "failed" | "notRun" = "ok"): void {
  for (const range of rangesOf(batch)) acknowledge(queue, range);
  pushEnded(queue, batch, end);
}

describe("nextBatch", () => {
  it("has no batch of an empty queue: no invocation", () => {
    expect(nextBatch(queueWith({ batchTimeoutMs: 0 }), T0)).toBeNull();
  });

  it.each([
    [2, null],
    [3, 3],
    [4, 3],
  ])("nextBatch with max_batch_size = 3 and %i messages delivers %o at once", (count, delivered) => {
    const queue = queueOf(count, { maxBatchSize: 3 });
    expect(nextBatch(queue, T0)?.count ?? null).toBe(delivered);
  });

  it.each([
    [2, 2],
    [3, 3],
    [4, 3],
  ])("nextBatch with max_batch_size = 3 and room for %i delivers %i of a full batch", (room, delivered) => {
    const queue = queueOf(3, { maxBatchSize: 3 });
    expect(nextBatch(queue, T0, room)?.count).toBe(delivered);
  });

  it.each([
    [T0 + 4_999, null],
    [T0 + 5_000, 2],
    [T0 + 5_001, 2],
  ])("nextBatch at %i delivers %o messages that wait for a full batch since 1000000", (nowMs, delivered) => {
    const queue = queueOf(2, { maxBatchSize: 3, batchTimeoutMs: 5_000 });
    expect(nextBatch(queue, nowMs)?.count ?? null).toBe(delivered);
  });

  it.each([
    [true, 3, 1],
    [false, 3, 3],
    [false, null, 1],
    [undefined, 3, 1],
    [true, null, 1],
  ])(
    "nextBatch with scaling %s and at most %o deliveries begins with %i",
    (scalesConcurrency, maxConcurrency, running) => {
      const scaling = scalesConcurrency === undefined ? {} : { scalesConcurrency };
      const queue = queueOf(5, { maxBatchSize: 1, maxConcurrency, ...scaling });
      const batches = Array.from({ length: 5 }, () => nextBatch(queue, T0));
      expect(batches.filter((batch) => batch !== null)).toHaveLength(running);
    },
  );

  it.each([
    [DELIVERY_BYTES_MAX - 1, 2],
    [DELIVERY_BYTES_MAX, 2],
    [DELIVERY_BYTES_MAX + 1, 1],
  ])("makes of two messages with %i bytes together batches of which the first has %i", (bytes, count) => {
    const queue = queueWith({ maxBatchSize: 2 });
    send(queue, { sizes: [1_000, bytes - 1_000], dueMs: T0 }, T0);
    expect(nextBatch(queue, T0)?.count).toBe(count);
  });

  it("counts the timeout from the moment the first message is due", () => {
    const queue = queueWith({ batchTimeoutMs: 5_000 });
    sendMany(queue, 1, T0, T0 + 1_000);
    sendMany(queue, 1, T0, T0 + 3_000);
    expect(nextBatch(queue, T0 + 5_999)).toBeNull();
    expect(nextBatch(queue, T0 + 6_000)?.count).toBe(2);
  });

  it("does not count messages that are not due for a full batch", () => {
    const queue = queueOf(1, { maxBatchSize: 2 });
    sendMany(queue, 1, T0, T0 + 1);
    expect(nextBatch(queue, T0)).toBeNull();
    expect(nextBatch(queue, T0 + 1)?.count).toBe(2);
  });

  it("has no batch while more messages than fill one stand behind the one that is delivered", () => {
    const queue = queueWith({ fifo: true, maxBatchSize: 1 });
    queue.push.target = 2;
    send(queue, { sizes: [1, 1, 1], dueMs: T0, groups: ["a", "a", "a"] }, T0);
    expect(nextBatch(queue, T0)?.count).toBe(1);
    expect(counts(queue).ready).toBe(2);
    expect(nextBatch(queue, T0)).toBeNull();
    expect(queue.push.inFlight).toBe(1);
  });

  it("leases for as long as a push delivery may run", () => {
    const queue = queueWith({ batchTimeoutMs: 0, pushLeaseMs: 900_000 });
    const segmentId = sendMany(queue, 1);
    expect(nextBatch(queue, T0)?.expiresMs).toBe(T0 + 900_000);
    expect(queue.segments.get(segmentId)?.entries[0]).toMatchObject({ leaseKind: "push", state: "leased" });
  });

  it("takes no slot when no batch is due", () => {
    const queue = queueOf(1);
    nextBatch(queue, T0);
    expect(queue.push).toMatchObject({ inFlight: 0, inFlightBytes: 0 });
  });
});

describe("slots", () => {
  it("delivers one batch at a time until it has learnt better", () => {
    const queue = queueOf(4, { maxBatchSize: 2 });
    const first = held(nextBatch(queue, T0));
    expect(queue.push).toMatchObject({ inFlight: 1, inFlightBytes: 20 });
    expect(nextBatch(queue, T0)).toBeNull();
    finish(queue, first);
    expect(queue.push).toMatchObject({ inFlight: 0, inFlightBytes: 0 });
    expect(nextBatch(queue, T0)?.count).toBe(2);
  });

  it.each([
    [1, 1],
    [2, 2],
    [3, 3],
    [null, 3],
  ])(
    "slots with max_concurrency = %o and a target of 3 delivers %i batches at a time",
    (maxConcurrency, running) => {
      const queue = queueWith({ maxBatchSize: 1, maxConcurrency });
      queue.push.target = 3;
      sendMany(queue, 10);
      let taken = 0;
      while (nextBatch(queue, T0) !== null) taken += 1;
      expect(taken).toBe(running);
      expect(counts(queue).leased).toBe(running);
    },
  );

  it.each([
    [PUSH_BYTES_MAX - 1, true],
    [PUSH_BYTES_MAX, false],
    [PUSH_BYTES_MAX + 1, false],
  ])("slots with %i bytes of bodies on their way starts another delivery: %s", (bytes, starts) => {
    const queue = queueWith({ maxBatchSize: 1 });
    queue.push.target = 2;
    send(queue, { sizes: [bytes, 1], dueMs: T0 }, T0);
    const first = held(nextBatch(queue, T0));
    expect(hasPushSlot(queue)).toBe(starts);
    expect(nextBatch(queue, T0) !== null).toBe(starts);
    pushEnded(queue, first, "ok");
    expect(hasPushSlot(queue)).toBe(true);
  });
});
