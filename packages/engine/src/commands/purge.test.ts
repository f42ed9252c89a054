import { expect, it } from "vitest";
import { checkInvariants } from "../../test/invariants.ts";
import { pull, queueOf, queueWith, sendApart, sendMany, T0 } from "../../test/queues.ts";
import { acknowledge, counts, nextWakeAt, purge, type Queue, retry, takeChanges } from "../index.ts";

function leaseOne(queue: Queue) {
  const { leaseId, slices } = pull(queue, 1, T0, T0 + 1_000);
  const [slice] = slices;
  if (slice === undefined) throw new Error("nothing was leased");
  return { ...slice, leaseId };
}

it("purge deletes every message: ready, delayed, retried and leased", () => {
  const queue = queueWith();
  const gone = [sendApart(queue, 3), sendApart(queue, 2, T0, T0 + 60_000)];
  retry(queue, leaseOne(queue), T0 + 5_000, T0);
  leaseOne(queue);
  takeChanges(queue);
  expect(purge(queue)).toBe(5);
  expect(counts(queue)).toMatchObject({ ready: 0, delayed: 0, leased: 0, waitingBytes: 0 });
  expect(takeChanges(queue)).toEqual(gone.map((id) => [id, "gone"]));
  expect(nextWakeAt(queue, true)).toBeNull();
  checkInvariants(queue);
});

it("purge leaves nothing for those who were working on a message to settle", () => {
  const queue = queueOf(2);
  const held = leaseOne(queue);
  purge(queue);
  expect(acknowledge(queue, held)).toBe(0);
  expect(retry(queue, held, T0, T0)).toEqual({ retried: [], dead: [] });
  expect(counts(queue)).toMatchObject({ ready: 0, delayed: 0, leased: 0 });
});

it("purge takes messages in again afterwards", () => {
  const queue = queueOf(2);
  expect(purge(queue)).toBe(2);
  expect(purge(queue)).toBe(0);
  sendMany(queue, 1);
  expect(counts(queue)).toMatchObject({ ready: 1 });
  checkInvariants(queue);
});
