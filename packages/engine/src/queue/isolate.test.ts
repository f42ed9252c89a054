import { describe, expect, it } from "vitest";
import { checkInvariants } from "../../test/invariants.ts";
import { queueWith, T0 } from "../../test/queues.ts";
import { Receivers } from "../../test/receivers.ts";
import { removeMessage } from "../commands/purge.ts";
import { advance, counts, lease, type Queue, send } from "../index.ts";
import { isolate } from "./isolate.ts";

/** Due times of a segment of which the first five messages are due at T0 + 1. */
const DUES = [T0, T0, T0 + 1, T0 + 1, T0 + 1, T0 + 5, T0 + 5, T0 + 5, T0 + 9];

const KINDS = [
  ["of a standard queue", { fifo: false }, undefined],
  ["of a standard queue with groups", { fifo: false }, DUES.map((_, i) => (i % 2 === 0 ? "a" : "b"))],
  ["of a FIFO queue", { fifo: true }, DUES.map((_, i) => (i % 2 === 0 ? "a" : "b"))],
] as const;

function queueOf(rules: { fifo: boolean }, groups: readonly string[] | undefined): [Queue, number] {
  const queue = queueWith(rules);
  const sizes = DUES.map((_, i) => 2 ** i);
  const { segmentId } = send(queue, { sizes, dueMs: DUES, ...(groups === undefined ? {} : { groups }) }, T0);
  advance(queue, T0 + 1);
  return [queue, segmentId];
}

/** The positions of the messages that can be leased at each of the due times. */
function leavingOf(queue: Queue): number[][] {
  return [T0 + 1, T0 + 4, T0 + 5, T0 + 8, T0 + 9].map((nowMs) => {
    const request = { max: 100, expiresMs: T0 + 1_000, kind: "pull" } as const;
    const slices = lease(queue, request, nowMs)?.slices ?? [];
    checkInvariants(queue);
    return slices
      .flatMap(({ from, to }) => Array.from({ length: to - from }, (_, i) => from + i))
      .sort((a, b) => a - b);
  });
}

describe.each(KINDS)("taking one message out of a segment %s", (_what, rules, groups) => {
  it.each(DUES.map((_, i) => i))("leaves the others as they were: message %i", (taken) => {
    const [queue, segmentId] = queueOf(rules, groups);
    expect(removeMessage(queue, { segmentId, index: taken })).toBe(true);
    checkInvariants(queue);
    expect(counts(queue)).toMatchObject({
      ready: taken < 5 ? 4 : 5,
      delayed: taken < 5 ? 4 : 3,
      waitingBytes: 2 ** DUES.length - 1 - 2 ** taken,
    });
    const [intact] = queueOf(rules, groups);
    const without = leavingOf(intact).map((leaving) => leaving.filter((i) => i !== taken));
    expect(leavingOf(queue)).toEqual(without);
  });

  it("takes one after the other, in whatever order, until nothing is left", () => {
    const orders = [
      [0, 1, 2, 3, 4, 5, 6, 7, 8],
      [8, 7, 6, 5, 4, 3, 2, 1, 0],
      [4, 6, 5, 0, 8, 2, 1, 7, 3],
    ];
    for (const order of orders) {
      const [queue, segmentId] = queueOf(rules, groups);
      for (const index of order) {
        expect(removeMessage(queue, { segmentId, index })).toBe(true);
        expect(removeMessage(queue, { segmentId, index })).toBe(false);
        checkInvariants(queue);
      }
      expect(queue.segments.size).toBe(0);
    }
  });
});

describe("messages before the one that is taken", () => {
  it("messages before the one that is taken keep their due times, though those of other segments are between them", () => {
    const [queue, segmentId] = queueOf({ fifo: false }, undefined);
    queue.tails.length = 0;
    const between = send(queue, { sizes: [1], dueMs: T0 }, T0 + 1).segmentId;
    removeMessage(queue, { segmentId, index: 4 });
    const batch = lease(queue, { max: 9, expiresMs: T0 + 9, kind: "pull" }, T0 + 1);
    expect(batch?.slices.map((slice) => [slice.segmentId, slice.from, slice.to])).toEqual([
      [segmentId, 0, 2],
      [between, 0, 1],
      [segmentId, 2, 4],
    ]);
  });

  it("messages before the one that is taken are one entry where groups order them, however many due times they have: less to keep and to store", () => {
    const queue = new Receivers({ fifo: true });
    queue.send(...Array.from({ length: 50 }, (_, i) => `loud-${i}`), "quiet-1");
    expect(queue.receive(1)).toEqual(["loud-0"]);
    expect(queue.receive(1)).toEqual(["quiet-1"]);
    const [segment] = queue.queue.segments.values();
    expect(segment?.entries.map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [1, 50],
      [50, 51],
    ]);
  });
});

it.each([0, 3])(
  "a message that is gone cannot be taken: %i of three of which the first was taken",
  (index) => {
    const queue = queueWith();
    const { segmentId } = send(queue, { sizes: [1, 1, 1], dueMs: T0 }, T0);
    removeMessage(queue, { segmentId, index: 0 });
    const segment = queue.segments.get(segmentId);
    if (segment === undefined) throw new Error("two messages are left");
    const what = new RangeError(`message ${index} of segment ${segmentId} is gone`);
    expect(() => isolate(queue, segment, index)).toThrow(what);
  },
);
