import { expect, it } from "vitest";
import { checkInvariants } from "../../test/invariants.ts";
import { firstRangeOf, pull, queueWith, T0 } from "../../test/queues.ts";
import {
  counts,
  encodeIndex,
  encodeState,
  expireLeases,
  lease,
  type Queue,
  receive,
  restoreSegment,
  retry,
  send,
} from "../index.ts";
import { changeDelay } from "./change-delay.ts";
import { makeDue } from "./make-due.ts";
import { removeMessage } from "./purge.ts";

const DELAY_MS = 10_000;

/** Sends one message to each group, with the queue's delay or one of its own. */
function sendTo(queue: Queue, groups: string[], nowMs = T0, dueMs = nowMs + DELAY_MS) {
  return send(queue, { sizes: groups.map(() => 1), dueMs, groups }, nowMs);
}

function take(queue: Queue, nowMs: number): number {
  return receive(queue, { max: 10, visibleAtMs: nowMs + 1_000 }, nowMs).lease?.count ?? 0;
}

/** The same queue after a restart from what is stored. */
function restarted(queue: Queue, nowMs: number): Queue {
  const again = queueWith({ fifo: true }, 2);
  for (const [id, segment] of queue.segments) {
    restoreSegment(again, id, encodeIndex(segment), encodeState(segment), nowMs);
  }
  return again;
}

it.each([
  ["longer", 20_000, T0 + 20_000],
  ["shorter", 5_000, T0 + 5_000],
  ["over by now", 1_000, T0 + 4_000],
  ["none", 0, T0 + 4_000],
])(
  "another delay of a FIFO queue (spec sqs 4.1) moves messages that wait for the old one: %s",
  (_what, toMs, dueMs) => {
    const queue = queueWith({ fifo: true });
    const { segmentId } = sendTo(queue, ["a", "b"]);
    expect(changeDelay(queue, DELAY_MS, toMs, T0 + 4_000)).toEqual([segmentId]);
    checkInvariants(queue);
    for (const one of [restarted(queue, T0 + 4_000), queue]) {
      if (dueMs > T0 + 4_000) expect(take(one, dueMs - 1)).toBe(0);
      expect(take(one, dueMs)).toBe(2);
      checkInvariants(one);
    }
  },
);

it("another delay of a FIFO queue (spec sqs 4.1) moves nothing that is visible, and nothing that named its own delay", () => {
  const queue = queueWith({ fifo: true });
  sendTo(queue, ["visible"]);
  queue.tails.length = 0;
  sendTo(queue, ["own"], T0, T0 + 50_000);
  expect(changeDelay(queue, DELAY_MS, 900_000, T0 + DELAY_MS)).toEqual([]);
  expect(take(queue, T0 + DELAY_MS)).toBe(1);
  expect(take(queue, T0 + 50_000)).toBe(1);
  checkInvariants(queue);
});

it("another delay of a FIFO queue (spec sqs 4.1) leaves those alone that are in flight or wait for their next delivery", () => {
  const queue = queueWith({ fifo: true });
  const { segmentId } = sendTo(queue, ["held", "failed"], T0, T0);
  expect(sendTo(queue, ["a", "b"]).segmentId).toBe(segmentId);
  const range = firstRangeOf(pull(queue, 2, T0, T0 + 90_000));
  retry(queue, { ...range, from: 1 }, T0 + 15_000, T0);
  expect(changeDelay(queue, DELAY_MS, 40_000, T0)).toEqual([segmentId]);
  checkInvariants(queue);
  expect(counts(queue)).toMatchObject({ ready: 0, delayed: 3, leased: 1 });
  const taken = [14_999, 15_000, 39_999, 40_000, 90_000].map((ms) => {
    expireLeases(queue, T0 + ms);
    return lease(queue, { max: 10, expiresMs: T0 + 900_000, kind: "pull" }, T0 + ms)?.count ?? 0;
  });
  expect(taken).toEqual([0, 1, 0, 2, 1]);
  checkInvariants(queue);
});

it("another delay of a FIFO queue (spec sqs 4.1) leaves a message alone that came due before the change and was not asked for since", () => {
  const queue = queueWith({ fifo: true });
  sendTo(queue, ["a"]);
  expect(changeDelay(queue, DELAY_MS, 40_000, T0 + DELAY_MS)).toEqual([]);
  expect(take(queue, T0 + DELAY_MS)).toBe(1);
  checkInvariants(queue);
});

it("another delay of a FIFO queue (spec sqs 4.1) keeps the order within a segment", () => {
  const queue = queueWith({ fifo: true });
  const { segmentId } = sendTo(queue, ["a"]);
  expect(sendTo(queue, ["b"], T0, T0 + 15_000).segmentId).toBe(segmentId);
  expect(changeDelay(queue, DELAY_MS, 20_000, T0)).toEqual([segmentId]);
  checkInvariants(queue);
  expect([take(queue, T0 + 19_999), take(queue, T0 + 20_000)]).toEqual([0, 2]);
});

it("another delay of a FIFO queue (spec sqs 4.1) moves messages before one that was deleted while it waited, too", () => {
  const queue = queueWith({ fifo: true });
  const { segmentId } = sendTo(queue, ["a", "b", "c"]);
  removeMessage(queue, { segmentId, index: 1 });
  expect(changeDelay(queue, DELAY_MS, 20_000, T0)).toEqual([segmentId]);
  checkInvariants(queue);
  expect(counts(queue)).toMatchObject({ ready: 0, delayed: 2 });
  const again = restarted(queue, T0);
  for (const one of [queue, again]) expect([take(one, T0 + 19_999), take(one, T0 + 20_000)]).toEqual([0, 2]);
});

it("another delay of a FIFO queue (spec sqs 4.1) leaves a message alone that was made due by hand", () => {
  const queue = queueWith({ fifo: true });
  const { segmentId } = sendTo(queue, ["a", "b"]);
  makeDue(queue, { segmentId, index: 0 }, T0);
  expect(changeDelay(queue, DELAY_MS, 20_000, T0)).toEqual([segmentId]);
  checkInvariants(queue);
  expect(counts(queue)).toMatchObject({ ready: 1, delayed: 1 });
  expect([take(queue, T0), take(queue, T0 + 20_000)]).toEqual([1, 1]);
});

it("another delay of a FIFO queue (spec sqs 4.1) takes no message from a client that holds it until its old due time", () => {
  const queue = queueWith({ fifo: true });
  const { segmentId } = sendTo(queue, ["a"]);
  makeDue(queue, { segmentId, index: 0 }, T0);
  expect(receive(queue, { max: 1, visibleAtMs: T0 + DELAY_MS }, T0).lease?.count).toBe(1);
  changeDelay(queue, DELAY_MS, 20_000, T0);
  checkInvariants(queue);
  expect(counts(queue)).toMatchObject({ delayed: 0, leased: 1 });
});
