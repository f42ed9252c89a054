import { describe, expect, it } from "vitest";
import {
  firstRangeOf,
  pull,
  queueOf,
  queueWith,
  rangesOf,
  sendApart,
  sendMany,
  T0,
} from "../../test/queues.ts";
import { acknowledge, counts, expireRetention, release, takeChanges } from "../index.ts";
import { firstIdOf } from "./epochs.ts";
import { changeRules } from "./queue.ts";

it("createQueue begins empty, with ids of its own epoch", () => {
  const queue = queueWith({}, 7);
  expect(counts(queue)).toEqual({ ready: 0, delayed: 0, leased: 0, waitingBytes: 0, oldestWaitingMs: null });
  expect(sendMany(queue, 1)).toBe(firstIdOf(7) + 1);
  expect(pull(queue, 1).leaseId).toBe(firstIdOf(7) + 1);
  expect(sendApart(queue, 1)).toBe(firstIdOf(7) + 2);
});

describe("takeChanges", () => {
  it("hands every change over once", () => {
    const queue = queueWith();
    const id = sendMany(queue, 1);
    expect(takeChanges(queue)).toEqual([[id, "created"]]);
    expect(takeChanges(queue)).toEqual([]);
  });

  it("calls a segment touched whose messages were leased or settled", () => {
    const queue = queueWith();
    const id = sendMany(queue, 2);
    takeChanges(queue);
    const range = firstRangeOf(pull(queue, 2));
    expect(takeChanges(queue)).toEqual([[id, "touched"]]);
    release(queue, range, T0, T0);
    expect(takeChanges(queue)).toEqual([[id, "touched"]]);
  });

  it("calls a segment gone that has no message left", () => {
    const queue = queueWith();
    const id = sendMany(queue, 2);
    takeChanges(queue);
    for (const range of rangesOf(pull(queue, 2))) acknowledge(queue, range);
    expect(takeChanges(queue)).toEqual([[id, "gone"]]);
  });

  it("calls a segment touched while one of its messages is left", () => {
    const queue = queueWith();
    const id = sendMany(queue, 2);
    const range = firstRangeOf(pull(queue, 2));
    takeChanges(queue);
    acknowledge(queue, { ...range, to: 0 });
    expect(takeChanges(queue)).toEqual([]);
    acknowledge(queue, { ...range, to: 1 });
    expect(takeChanges(queue)).toEqual([[id, "touched"]]);
    acknowledge(queue, range);
    expect(takeChanges(queue)).toEqual([[id, "gone"]]);
  });

  it("calls a segment touched of which untouched messages have expired", () => {
    const queue = queueWith({ retentionMs: 1_000 });
    const id = sendMany(queue, 1, T0);
    sendMany(queue, 1, T0 + 1);
    takeChanges(queue);
    expireRetention(queue, T0 + 1_000);
    expect(takeChanges(queue)).toEqual([[id, "touched"]]);
  });

  it("says nothing of a segment that came and went between two commits", () => {
    const queue = queueOf(1);
    for (const range of rangesOf(pull(queue, 1))) acknowledge(queue, range);
    expect(takeChanges(queue)).toEqual([]);
  });

  it("sums several changes up", () => {
    const queue = queueWith();
    const created = sendMany(queue, 1);
    pull(queue, 1);
    sendMany(queue, 1);
    expect(takeChanges(queue)).toEqual([[created, "created"]]);
    pull(queue, 1);
    sendMany(queue, 1);
    pull(queue, 1);
    expect(takeChanges(queue)).toEqual([[created, "appendedAndTouched"]]);
    sendMany(queue, 1);
    sendMany(queue, 1);
    expect(takeChanges(queue)).toEqual([[created, "appended"]]);
    sendMany(queue, 1);
    pull(queue, 1);
    expect(takeChanges(queue)).toEqual([[created, "appendedAndTouched"]]);
  });

  it("lists segments in the order of their first change", () => {
    const queue = queueWith();
    const [first, second] = [sendApart(queue, 1, T0, T0 + 5), sendApart(queue, 1)];
    takeChanges(queue);
    pull(queue, 1, T0);
    pull(queue, 1, T0 + 5);
    expect(takeChanges(queue)).toEqual([
      [second, "touched"],
      [first, "touched"],
    ]);
  });
});

it("changeRules numbers an empty queue's messages on, and begins anew where it becomes a FIFO queue", () => {
  const queue = queueWith({}, 7);
  changeRules(queue, { ...queue.rules, maxRetries: 9 });
  expect([queue.rules.maxRetries, queue.nextSeq]).toEqual([9, 0]);
  changeRules(queue, { ...queue.rules, fifo: true });
  expect(queue.nextSeq).toBe(firstIdOf(7) + 1);
});
