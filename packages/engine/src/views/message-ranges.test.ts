import { describe, expect, it, vi } from "vitest";
import { firstRangeOf, held, queueWith, T0 } from "../../test/queues.ts";
import {
  acceptedMsAt,
  Blockers,
  groupIdAt,
  isHeldBack,
  lease,
  type Queue,
  rangeAt,
  removeMessage,
  retry,
  send,
} from "../index.ts";

const GROUPS = ["a", "b", "a", null, "a"];

/** Sends a message of each group, in one segment. */
function sendGroups(queue: Queue, groups: readonly (string | null)[], dueMs: number | number[] = T0): number {
  queue.tails.length = 0;
  return send(queue, { sizes: groups.map(() => 1), dueMs, groups: [...groups] }, T0).segmentId;
}

const leaseOne = (queue: Queue) => lease(queue, { max: 1, expiresMs: T0 + 9, kind: "receive" }, T0);

describe("a place in a queue", () => {
  it("says when its message was accepted, and nothing where none is", () => {
    const queue = queueWith();
    const segmentId = sendGroups(queue, GROUPS);
    expect(acceptedMsAt(queue, { segmentId, index: 2 })).toBe(T0);
    expect(acceptedMsAt(queue, { segmentId: segmentId + 1, index: 0 })).toBeNull();
  });

  it("says the group of its message; none where it names none, or is in no segment", () => {
    const queue = queueWith({ fifo: true });
    const segmentId = sendGroups(queue, GROUPS);
    expect(GROUPS.map((_, index) => groupIdAt(queue, { segmentId, index }))).toEqual(GROUPS);
    expect(groupIdAt(queue, { segmentId: segmentId + 1, index: 0 })).toBeNull();
    const plain = queueWith();
    const { segmentId: other } = send(plain, { sizes: [1], dueMs: T0 }, T0);
    expect(groupIdAt(plain, { segmentId: other, index: 0 })).toBeNull();
  });

  it("is held back while its group has most of what is in flight, and others' messages wait", () => {
    const queue = queueWith();
    const noisy = sendGroups(queue, Array<string>(40).fill("noisy"));
    const quiet = sendGroups(queue, ["quiet", null]);
    const isHeld = (segmentId: number, index: number) => isHeldBack(queue, { segmentId, index });
    expect([isHeld(noisy, 39), isHeld(quiet, 0), isHeld(quiet, 1)]).toEqual([false, false, false]);
    for (let i = 0; i < 31; i++) leaseOne(queue);
    expect([isHeld(noisy, 39), isHeld(quiet, 0), isHeld(quiet, 1)]).toEqual([true, false, false]);
    expect(isHeld(quiet + 1, 0)).toBe(false);
    for (const plain of [queueWith(), queueWith({ fifo: true })]) {
      const { segmentId } = send(plain, { sizes: [1], dueMs: T0 }, T0);
      expect(isHeldBack(plain, { segmentId, index: 0 })).toBe(false);
    }
  });
});

it("a message that waits again has no kind of lease", () => {
  const queue = queueWith();
  const segmentId = sendGroups(queue, [null]);
  const leased = held(leaseOne(queue));
  expect(rangeAt(queue, { segmentId, index: 0 })).toMatchObject({ state: "leased", leaseKind: "receive" });
  retry(queue, firstRangeOf(leased), T0 + 1, T0);
  expect(rangeAt(queue, { segmentId, index: 0 })).toMatchObject({ state: "delayed", leaseKind: null });
});

describe("on a FIFO queue a message", () => {
  it("is kept by the first of its group that is not ready, if that stands before it", () => {
    const queue = queueWith({ fifo: true });
    const segmentId = sendGroups(queue, GROUPS);
    leaseOne(queue);
    const blockers = new Blockers(queue);
    const first = { segmentId, index: 0 };
    const of = (index: number) => blockers.of({ segmentId, index });
    expect([0, 1, 2, 3, 4].map(of)).toEqual([null, null, first, null, first]);
    // What was found stands, in whatever order it is asked for.
    expect([4, 2, 0].map(of)).toEqual([first, first, null]);
    expect(blockers.of({ segmentId: segmentId + 1, index: 0 })).toBeNull();
  });

  it("is kept by nothing while all before it in its group are ready", () => {
    const queue = queueWith({ fifo: true });
    const segmentId = sendGroups(queue, ["a", "a", "a"]);
    const blockers = new Blockers(queue);
    expect([2, 1, 0].map((index) => blockers.of({ segmentId, index }))).toEqual([null, null, null]);
  });

  it("is looked for once, though those behind it are asked for, too", () => {
    const queue = queueWith({ fifo: true });
    const segmentId = sendGroups(queue, ["a", "a", "a"]);
    const segment = queue.segments.get(segmentId);
    if (segment === undefined) throw new Error("it was sent");
    const blockers = new Blockers(queue);
    const entryOf = vi.spyOn(segment, "entryOf");
    for (const index of [0, 1, 2]) blockers.of({ segmentId, index });
    expect(entryOf.mock.calls).toEqual([[0], [1]]);
  });

  it("is kept by one in another segment, behind ready ones", () => {
    const queue = queueWith({ fifo: true });
    const ready = sendGroups(queue, ["a"]);
    const delayed = sendGroups(queue, ["a"], T0 + 1_000);
    const last = sendGroups(queue, ["a", "a"]);
    const blockers = new Blockers(queue);
    expect(blockers.of({ segmentId: ready, index: 0 })).toBeNull();
    expect(blockers.of({ segmentId: delayed, index: 0 })).toBeNull();
    expect(blockers.of({ segmentId: last, index: 1 })).toEqual({ segmentId: delayed, index: 0 });
    expect(blockers.of({ segmentId: last, index: 0 })).toEqual({ segmentId: delayed, index: 0 });
  });

  it("has the first one of its group before it, unless it is that", () => {
    const queue = queueWith({ fifo: true });
    const segmentId = sendGroups(queue, GROUPS);
    const later = sendGroups(queue, ["b", "a"]);
    const blockers = new Blockers(queue);
    const firstOf = (id: number, index: number) => blockers.firstOf({ segmentId: id, index });
    expect([0, 1, 2, 4].map((index) => firstOf(segmentId, index))).toEqual([
      null,
      null,
      { segmentId, index: 0 },
      { segmentId, index: 0 },
    ]);
    expect(firstOf(later, 0)).toEqual({ segmentId, index: 1 });
    expect(firstOf(later, 1)).toEqual({ segmentId, index: 0 });
    expect(firstOf(later + 1, 0)).toBeNull();
    // The place in its segment is the same.
    const last = sendGroups(queue, ["a"]);
    expect(firstOf(last, 0)).toEqual({ segmentId, index: 0 });
  });

  it("has none before it once those are gone", () => {
    for (const groups of [["a"], ["a", "b"]]) {
      const queue = queueWith({ fifo: true });
      const segmentId = sendGroups(queue, groups);
      removeMessage(queue, { segmentId, index: 0 });
      const blockers = new Blockers(queue);
      expect(blockers.firstOf({ segmentId, index: 0 })).toBeNull();
      expect(blockers.of({ segmentId, index: 0 })).toBeNull();
    }
  });
});

it("a standard queue's message is kept by no other, of its group or without one", () => {
  for (const groups of [undefined, ["a", "a"]]) {
    const queue = queueWith();
    const messages = { sizes: [1, 1], dueMs: T0, ...(groups === undefined ? {} : { groups }) };
    const { segmentId } = send(queue, messages, T0);
    leaseOne(queue);
    const blockers = new Blockers(queue);
    expect(blockers.of({ segmentId, index: 1 })).toBeNull();
    expect(blockers.firstOf({ segmentId, index: 1 })).toBeNull();
  }
});
