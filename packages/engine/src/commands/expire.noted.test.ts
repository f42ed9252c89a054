import { expect, it } from "vitest";
import { checkInvariants } from "../../test/invariants.ts";
import { firstRangeOf, pull, queueOf, queueWith, sendMany, T0 } from "../../test/queues.ts";
import { expireRetention, type Queue, retry, send } from "../index.ts";
import type { Slice } from "../segments/segment.ts";

const retentionMs = 60_000;

function expiredOf(queue: Queue, nowMs: number): { count: number; slices: Slice[] } {
  const slices: Slice[] = [];
  const count = expireRetention(queue, nowMs, (slice) => slices.push(slice));
  checkInvariants(queue);
  return { count, slices };
}

it("notes which messages the end of a retention takes, and how often they were delivered", () => {
  const queue = queueWith({ retentionMs });
  const segmentId = sendMany(queue, 5);
  // The first is held, the second waits for its second delivery, the others were never delivered.
  const range = firstRangeOf(pull(queue, 2, T0, T0 + 10 * retentionMs));
  retry(queue, { ...range, from: 1 }, T0 + 2 * retentionMs, T0);
  const { count, slices } = expiredOf(queue, T0 + retentionMs);
  expect(count).toBe(4);
  expect(slices).toEqual([
    { segmentId, from: 2, to: 5, attempts: 0 },
    { segmentId, from: 1, to: 2, attempts: 1 },
  ]);
});

it("also where the messages of a segment are not in order of their age", () => {
  const queue = queueWith({ retentionMs });
  const acceptedMs = [T0, T0 - 50_000, T0 - 10_000, T0 - 50_000];
  const { segmentId } = send(queue, { sizes: [1, 1, 1, 1], dueMs: T0, acceptedMs }, T0);
  const { count, slices } = expiredOf(queue, T0 + 10_000);
  expect(count).toBe(2);
  expect(slices).toEqual([
    { segmentId, from: 1, to: 2, attempts: 0 },
    { segmentId, from: 3, to: 4, attempts: 0 },
  ]);
});

it("notes nothing when nothing is old enough", () => {
  const queue = queueOf(1, { retentionMs });
  expect(expiredOf(queue, T0 + retentionMs - 1)).toEqual({ count: 0, slices: [] });
});

it("leaves segments to the next call when those before had enough bytes", () => {
  const queue = queueWith({ retentionMs });
  for (let i = 0; i < 3; i++) send(queue, { sizes: [4_000, 800], dueMs: T0, acceptedMs: [T0, T0] }, T0);
  // Each message counts 100 bytes besides its own.
  const expire = (bytesMax: number) => expireRetention(queue, T0 + retentionMs, () => {}, bytesMax);
  expect([expire(5_001), expire(5_000), expire(5_000)]).toEqual([4, 2, 0]);
  checkInvariants(queue);
});
