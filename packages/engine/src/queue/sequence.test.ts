import { describe, expect, it } from "vitest";
import { firstRangeOf, pull, queueOf, queueWith, sendApart, sendMany, T0 } from "../../test/queues.ts";
import { acknowledge, isHeld, lease, purge, reserveSeq, send } from "../index.ts";

const held = (queue: ReturnType<typeof queueWith>, count: number) =>
  Array.from({ length: count }, (_, seq) => seq).filter((seq) => isHeld(queue, seq));

describe("isHeld", () => {
  it("knows what waits, is delayed and is leased, by its number in the order of sending", () => {
    const queue = queueOf(2);
    sendApart(queue, 1, T0, T0 + 5_000);
    // The later of the two is due first: its record comes first.
    send(queue, { sizes: [1, 1], dueMs: [T0 + 2_000, T0 + 1_000] }, T0);
    lease(queue, { max: 1, expiresMs: T0 + 1_000, kind: "pull" }, T0);
    expect(held(queue, 8)).toEqual([0, 1, 2, 3, 4]);
  });

  it("knows nothing of what is gone, or was never sent", () => {
    const queue = queueOf(4);
    const first = firstRangeOf(pull(queue, 1));
    acknowledge(queue, first);
    expect(held(queue, 6)).toEqual([1, 2, 3]);
    purge(queue);
    expect(held(queue, 6)).toEqual([]);
    expect(isHeld(queueWith(), 0)).toBe(false);
  });
});

describe("reserveSeq", () => {
  it("lets no message have that number, or one before it", () => {
    const queue = queueWith();
    reserveSeq(queue, 6);
    sendMany(queue, 1);
    expect(isHeld(queue, 6)).toBe(false);
    expect(isHeld(queue, 7)).toBe(true);
  });

  it("changes nothing where it is behind", () => {
    const queue = queueOf(3);
    reserveSeq(queue, 1);
    sendApart(queue, 1);
    expect(held(queue, 9)).toEqual([0, 1, 2, 3]);
  });
});
