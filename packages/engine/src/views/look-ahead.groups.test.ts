import { expect, it } from "vitest";
import { queueWith, T0 } from "../../test/queues.ts";
import { Receivers } from "../../test/receivers.ts";
import { countAttempts, nextDeliveries, nextReceives, receive, send } from "../index.ts";
import { DELIVERY_BYTES_MAX } from "../push/dispatch.ts";

const ALL = { messagesMax: Infinity, batchesMax: Infinity };

const names = (count: number, prefix: string) => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);

/** Compares a look ahead at receives of up to `atOnceMax` messages with these receives. Returns what they lease. */
function lookedAhead({ queue, nowMs }: Receivers, max: number, atOnceMax: number): string[] {
  const ahead = nextReceives(queue, max, atOnceMax, nowMs);
  const leased: string[] = [];
  while (leased.length < max) {
    const { lease } = receive(queue, { max: atOnceMax, visibleAtMs: nowMs + 1_000 }, nowMs);
    if (lease === null) break;
    for (const { segmentId, from, to } of lease.slices) {
      for (let index = from; index < to; index++) {
        leased.push(`${segmentId}/${index}`);
        expect([segmentId, index, ahead.has(segmentId, index)]).toEqual([segmentId, index, true]);
      }
    }
  }
  expect(leased).toHaveLength(ahead.count);
  return leased;
}

it("a look ahead keeps a tenant noisy that has become so and has few messages in flight by now", () => {
  const queue = new Receivers({});
  const loud = names(30, "loud");
  queue.send(...loud);
  queue.receive(30);
  queue.send("loud-x", "quiet-1", "quiet-2");
  expect(queue.receive(1)).toEqual(["quiet-1"]);
  queue.delete(...loud.slice(5));
  expect(lookedAhead(queue, 1, 1)).toHaveLength(1);
  expect(queue.receive(9)).toEqual(["loud-x"]);
});

it("a look ahead counts what it takes among all in flight: a tenth of them makes no tenant noisy", () => {
  const queue = new Receivers({});
  queue.send(...Array.from({ length: 270 }, (_, i) => `t${i}-0`), ...names(29, "loud"));
  queue.receive(299);
  queue.send("loud-x", "loud-y", "late-1");
  expect(lookedAhead(queue, 2, 2)).toHaveLength(2);
});

it("a look ahead takes nothing of a FIFO queue's group behind a message that dies and one that is in flight by then", () => {
  const queue = new Receivers({ fifo: true, maxRetries: 0 });
  queue.send("a-1", "a-2", "a-3");
  const [segmentId = 0] = queue.queue.segments.keys();
  countAttempts(queue.queue, { segmentId, index: 1 }, 1, queue.nowMs);
  expect(lookedAhead(queue, 3, 1)).toEqual([`${segmentId}/0`]);
});

it("a look ahead waits as long as a batch does for a noisy tenant alone", () => {
  const queue = new Receivers({ batchTimeoutMs: 5_000, maxBatchSize: 10 });
  queue.send(...names(30, "loud"));
  queue.receive(30);
  const sentMs = queue.nowMs;
  queue.send("loud-x", "loud-y");
  const waits = { count: 0, stop: "batch", batchDueMs: sentMs + 5_000 };
  expect(nextDeliveries(queue.queue, ALL, sentMs + 4_999)).toMatchObject(waits);
  expect(nextDeliveries(queue.queue, ALL, sentMs + 5_000).count).toBe(2);
});

it.each([
  [DELIVERY_BYTES_MAX - 1, 2],
  [DELIVERY_BYTES_MAX, 2],
  [DELIVERY_BYTES_MAX + 1, 1],
])("a look ahead at two messages with %i bytes together has %i in the next batch", (bytes, count) => {
  const queue = queueWith({ maxBatchSize: 2 });
  send(queue, { sizes: [1_000, bytes - 1_000], dueMs: T0 }, T0);
  expect(nextDeliveries(queue, { ...ALL, batchesMax: 1 }, T0).count).toBe(count);
});
