import { expect, it, vi } from "vitest";
import { firstRangeOf, pull, queueOf, queueWith, sendApart, sendMany, T0 } from "../../test/queues.ts";
import { counts, lease, peek, retry, send, takeChanges } from "../index.ts";

it("peek (spec cloudflare-queues 5.2) shows what waits in the order in which it is due, delayed messages too, and leased ones not", () => {
  const queue = queueWith();
  const later = sendApart(queue, 2, T0, T0 + 5_000);
  const leased = sendApart(queue, 1, T0);
  lease(queue, { max: 1, expiresMs: T0 + 1, kind: "pull" }, T0);
  const now = sendApart(queue, 3, T0);
  expect(peek(queue, 10)).toEqual([
    { segmentId: now, from: 0, to: 3, attempts: 0 },
    { segmentId: later, from: 0, to: 2, attempts: 0 },
  ]);
  expect(peek(queue, 10).some(({ segmentId }) => segmentId === leased)).toBe(false);
});

it.each([
  [0, []],
  [2, [[0, 2]]],
  [3, [[0, 3]]],
  [
    4,
    [
      [0, 3],
      [3, 4],
    ],
  ],
])("peek (spec cloudflare-queues 5.2) shows at most as many as are asked for: %i", (max, ranges) => {
  const queue = queueWith();
  const segmentId = sendMany(queue, 3);
  sendMany(queue, 3, T0, T0 + 1_000);
  expect(peek(queue, max)).toEqual(ranges.map(([from, to]) => ({ segmentId, from, to, attempts: 0 })));
});

it.each([
  [21, 2],
  [20, 2],
  [19, 1],
  [1, 1],
  [29, 2],
  [30, 3],
  [39, 3],
  [40, 4],
])(
  "peek (spec cloudflare-queues 5.2) shows no more than %i bytes of messages of 10, but always one: %i",
  (bytesMax, count) => {
    const queue = queueWith();
    const segmentId = sendMany(queue, 3);
    sendMany(queue, 3, T0, T0 + 1_000);
    const expected = [{ segmentId, from: 0, to: Math.min(3, count), attempts: 0 }];
    if (count > 3) expected.push({ segmentId, from: 3, to: count, attempts: 0 });
    expect(peek(queue, 10, bytesMax)).toEqual(expected);
  },
);

it("peek (spec cloudflare-queues 5.2) shows messages without a body where there is no room for a byte more", () => {
  const queue = queueWith();
  const { segmentId } = send(queue, { sizes: [10, 0, 1], dueMs: T0 }, T0);
  expect(peek(queue, 10, 10)).toEqual([{ segmentId, from: 0, to: 2, attempts: 0 }]);
});

it("peek (spec cloudflare-queues 5.2) lets none pass a larger one that has no room", () => {
  const queue = queueWith();
  const { segmentId } = send(queue, { sizes: [5, 50], dueMs: T0 }, T0);
  sendApart(queue, 1, T0, T0 + 1_000);
  expect(peek(queue, 10, 20)).toEqual([{ segmentId, from: 0, to: 1, attempts: 0 }]);
});

it("peek (spec cloudflare-queues 5.2) shows messages that were delivered before where they wait now, with their deliveries, and each once", () => {
  const queue = queueWith();
  const segmentId = sendMany(queue, 4);
  const range = firstRangeOf(pull(queue, 2));
  retry(queue, { ...range, to: 1 }, T0 + 500, T0);
  retry(queue, { ...range, from: 1 }, T0, T0);
  const later = sendApart(queue, 3, T0, T0 + 1_000);
  const all = [
    { segmentId, from: 1, to: 2, attempts: 1 },
    { segmentId, from: 2, to: 4, attempts: 0 },
    { segmentId, from: 0, to: 1, attempts: 1 },
    { segmentId: later, from: 0, to: 3, attempts: 0 },
  ];
  expect(peek(queue, 10)).toEqual(all);
  expect(peek(queue, 6)).toEqual([...all.slice(0, 3), { ...all[3], to: 2 }]);
  pull(queue, 1);
  expect(peek(queue, 10)).toEqual(all.slice(1));
});

it("peek (spec cloudflare-queues 5.2) changes nothing", () => {
  const queue = queueOf(3);
  takeChanges(queue);
  const before = counts(queue);
  expect(peek(queue, 2)).toHaveLength(1);
  expect(counts(queue)).toEqual(before);
  expect(takeChanges(queue)).toEqual([]);
});

it.each([
  ["messages", 1, Infinity],
  ["bytes", 9, 1],
])("peek (spec cloudflare-queues 5.2) looks no further than it has room for: %s", (_what, max, bytesMax) => {
  const queue = queueWith();
  const dueMs = [1, 2, 3, 4].map((ms) => T0 + ms);
  const { segmentId } = send(queue, { sizes: [1, 1, 1, 1], dueMs }, T0);
  const segment = queue.segments.get(segmentId);
  if (segment === undefined) throw new Error("it was sent");
  const seqOf = vi.spyOn(segment, "seqOf");
  expect(peek(queue, max, bytesMax)).toEqual([{ segmentId, from: 0, to: 1, attempts: 0 }]);
  // Those of the one that is shown and of the one behind it.
  expect(seqOf).toHaveBeenCalledTimes(2);
});
