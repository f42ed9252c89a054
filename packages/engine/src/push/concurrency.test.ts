import { describe, expect, it } from "vitest";
import { queueOf, queueWith } from "../../test/queues.ts";
import { type Lease, type PushEnd, pushEnded, type Queue } from "../index.ts";
import {
  CONCURRENCY_MAX,
  forgetConcurrency,
  IDLE_ENDS_MAX,
  IDLE_ENDS_OF_SINGLES_MAX,
} from "./concurrency.ts";

/** Ends deliveries, one after the other, while others are running. */
function end(queue: Queue, ...ends: PushEnd[]): number {
  const batch: Lease = { leaseId: 1, expiresMs: 0, slices: [], count: 0, bytes: 0 };
  for (const how of ends) {
    queue.push.inFlight += 1;
    pushEnded(queue, batch, how);
  }
  return queue.push.target;
}

/** A queue with full batches waiting. */
function loaded(rules: Parameters<typeof queueWith>[0] = {}): Queue {
  const queue = queueOf(10, { maxBatchSize: 10, ...rules });
  return queue;
}

const times = (count: number, how: PushEnd) => Array<PushEnd>(count).fill(how);

describe("scaling up", () => {
  it("runs one delivery more after each one while a whole batch waits", () => {
    const queue = loaded();
    expect([end(queue, "ok"), end(queue, "ok"), end(queue, "ok")]).toEqual([2, 3, 4]);
  });

  it.each([
    [9, 1],
    [10, 2],
    [11, 2],
  ])("scaling up with max_batch_size = 10 and %i messages ready has a target of %i", (ready, target) => {
    const queue = queueOf(ready, { maxBatchSize: 10 });
    expect(end(queue, "ok")).toBe(target);
  });

  it.each([
    ["the target is two when anything waits where max_batch_timeout is 0", 0, 1, 2],
    ["the target stays one where messages may wait for a full batch", 1, 1, 1],
  ])("%s", (_, batchTimeoutMs, ready, target) => {
    const queue = queueOf(ready, { maxBatchSize: 10, batchTimeoutMs });
    expect(end(queue, "ok", "ok")).toBe(target);
  });

  it("is not two for what waits after a failure", () => {
    const queue = queueOf(1, { maxBatchSize: 10, batchTimeoutMs: 0 });
    expect([end(queue, "failed"), end(queue, "ok")]).toEqual([1, 2]);
  });

  it("keeps more than two while anything waits where max_batch_timeout is 0, within max_concurrency", () => {
    const queue = queueOf(1, { maxBatchSize: 10, batchTimeoutMs: 0 });
    queue.push.target = 5;
    expect(end(queue, "ok")).toBe(5);
    queue.rules.maxConcurrency = 1;
    expect(end(queue, "ok")).toBe(1);
  });

  it("runs no more after a failure, though a whole batch waits", () => {
    const queue = loaded();
    queue.push.target = 5;
    expect([end(queue, "failed"), end(queue, "ok")]).toEqual([5, 6]);
  });

  it("ends at max_concurrency", () => {
    const queue = loaded({ maxConcurrency: 3 });
    expect(end(queue, ...times(10, "ok"))).toBe(3);
  });

  it.each([
    [CONCURRENCY_MAX - 2, CONCURRENCY_MAX - 1],
    [CONCURRENCY_MAX - 1, CONCURRENCY_MAX],
    [CONCURRENCY_MAX, CONCURRENCY_MAX],
  ])("goes from %i to %i deliveries, 250 being the most", (before, after) => {
    const queue = loaded();
    queue.push.target = before;
    expect(end(queue, "ok")).toBe(after);
  });

  it("comes down to a max_concurrency that was lowered", () => {
    const queue = loaded();
    end(queue, ...times(9, "ok"));
    queue.rules.maxConcurrency = 2;
    expect(end(queue, "ok")).toBe(2);
  });

  it("learns nothing from a delivery that no handler ran", () => {
    const queue = loaded();
    expect(end(queue, ...times(20, "notRun"))).toBe(1);
    expect(queue.push.failures).toEqual([]);
  });
});

describe("scaling down", () => {
  it.each([
    [4, 40, 40],
    [5, 40, 40],
    [6, 40, 20],
  ])("scaling down with %i of the last ten deliveries failed goes from %i to %i", (failed, before, after) => {
    const queue = loaded();
    end(queue, ...times(10 - failed, "ok"), ...times(failed - 1, "failed"));
    queue.push.target = before;
    expect(end(queue, "failed")).toBe(after);
  });

  it("does not judge by fewer than ten deliveries", () => {
    const queue = loaded();
    queue.push.target = 10;
    expect(end(queue, ...times(9, "failed"))).toBe(10);
    expect(end(queue, "failed")).toBe(5);
  });

  it("looks back on ten deliveries only", () => {
    const queue = loaded();
    end(queue, ...times(5, "failed"), ...times(10, "ok"));
    queue.push.target = 40;
    expect(end(queue, ...times(5, "failed"))).toBe(40);
    expect(end(queue, "failed")).toBe(20);
  });

  it("judges anew after it has halved", () => {
    const queue = loaded();
    queue.push.target = 100;
    end(queue, ...times(10, "failed"));
    const halved = queue.push.target;
    expect(end(queue, ...times(9, "failed"))).toBe(halved);
    expect(end(queue, "failed")).toBe(halved / 2);
  });

  it("keeps at least one delivery running", () => {
    const queue = queueOf(1);
    expect(end(queue, ...times(10, "failed"))).toBe(1);
  });

  it("comes down to two when nothing is left to do, and to one when that was so ten times in a row", () => {
    const queue = queueWith();
    queue.push.target = 40;
    expect(end(queue, "ok")).toBe(2);
    expect(end(queue, ...times(IDLE_ENDS_MAX - 2, "ok"))).toBe(2);
    expect(end(queue, "ok")).toBe(1);
  });

  it("stays what it was where batches are single messages, and is one when nothing was left a hundred times", () => {
    const queue = queueWith({ maxBatchSize: 1 });
    queue.push.target = 40;
    expect(end(queue, ...times(IDLE_ENDS_OF_SINGLES_MAX - 1, "ok"))).toBe(40);
    expect(end(queue, "ok")).toBe(1);
  });

  it("counts anew when another delivery was running, or messages were waiting", () => {
    const queue = queueWith();
    queue.push.target = 2;
    end(queue, ...times(IDLE_ENDS_MAX - 1, "ok"));
    queue.push.inFlight = 1;
    expect(end(queue, "ok")).toBe(2);
    queue.push.inFlight = 0;
    expect(end(queue, ...times(IDLE_ENDS_MAX - 1, "ok"))).toBe(2);
    expect(end(queue, "ok")).toBe(1);
  });

  it("begins with one delivery, and stays there while nothing is left to do", () => {
    expect(end(queueWith(), "ok")).toBe(1);
  });

  it("keeps its target while others run, or while messages wait for a full batch", () => {
    const busy = queueWith();
    busy.push.target = 40;
    busy.push.inFlight = 1;
    expect(end(busy, "ok")).toBe(40);
    const unhurried = queueWith({ batchTimeoutMs: 0 });
    unhurried.push.inFlight = 1;
    expect(end(unhurried, "ok")).toBe(1);
    const waiting = queueOf(1, { maxBatchSize: 2 });
    waiting.push.target = 40;
    expect(end(waiting, "ok")).toBe(40);
  });
});

describe("another consumer", () => {
  it.each([
    [0, 1],
    [3, 4],
    [CONCURRENCY_MAX - 1, CONCURRENCY_MAX],
    [CONCURRENCY_MAX, CONCURRENCY_MAX],
  ])("has, beside %i deliveries of the one before, a target of %i", (inFlight, target) => {
    const queue = loaded();
    queue.push.target = 40;
    queue.push.inFlight = inFlight;
    forgetConcurrency(queue);
    expect(queue.push.target).toBe(target);
  });

  it("is not judged by failures of the one before, nor by how often it left nothing to do", () => {
    const failing = loaded();
    end(failing, ...times(9, "failed"));
    forgetConcurrency(failing);
    failing.push.target = 10;
    expect(end(failing, ...times(9, "failed"))).toBe(10);
    const idle = queueWith();
    end(idle, ...times(IDLE_ENDS_MAX - 1, "ok"));
    forgetConcurrency(idle);
    idle.push.target = 2;
    expect(end(idle, "ok")).toBe(2);
  });
});
