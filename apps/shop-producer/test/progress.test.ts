import { describe, expect, it } from "vitest";
import { describeOrder, isOrderSettled, isRunSettled, shareRun } from "../public/progress.js";

const placed = { placedAt: 1_000_000, delaySeconds: 0 };

describe("describeOrder", () => {
  it("calls an order queued while it has no report", () => {
    expect(describeOrder(placed, undefined, 1_000_000)).toEqual({
      state: "queued",
      label: "Queued",
      detail: "Waiting for its first attempt",
      marks: ["due"],
    });
  });

  it.each([
    [0, "Delayed", "Held back for another 1 min 30 s"],
    [30_000, "Delayed", "Held back for another 1 min"],
    [31_000, "Delayed", "Held back for another 59 s"],
    [89_001, "Delayed", "Held back for another 1 s"],
    [90_000, "Queued", "Waiting for its first attempt"],
  ])("counts a delay of 90 s down: after %s ms it is %s", (passedMs, label, detail) => {
    const now = placed.placedAt + passedMs;
    expect(describeOrder({ ...placed, delaySeconds: 90 }, undefined, now)).toMatchObject({ label, detail });
  });

  it("says at which attempt an order was charged", () => {
    const charged = { state: "charged", id: "o", cents: 5900 } as const;
    const first = describeOrder(placed, { ...charged, attempts: 1 }, 0);
    expect(first).toMatchObject({ detail: "$59.00 charged at the first attempt", marks: ["paid"] });
    const third = describeOrder(placed, { ...charged, attempts: 3 }, 0);
    expect(third).toMatchObject({
      detail: "$59.00 charged at attempt 3",
      marks: ["failed", "failed", "paid"],
    });
  });

  it("says why an attempt failed and when the next one is", () => {
    const retrying = {
      state: "retrying",
      id: "o",
      attempts: 2,
      reason: "No power",
      nextAttemptAt: 4000,
    } as const;
    expect(describeOrder(placed, retrying, 100)).toMatchObject({
      state: "retrying",
      detail: "No power. Next attempt in 4 s",
      marks: ["failed", "failed", "due"],
    });
    expect(describeOrder(placed, retrying, 4000).detail).toBe("No power. Next attempt soon");
    expect(describeOrder(placed, { ...retrying, nextAttemptAt: null }, 100).detail).toBe(
      "No power. Next attempt soon",
    );
  });

  it("says that an order is in the dead-letter queue, with its last failure", () => {
    const dead = { state: "dead", id: "o", attempts: 4, reason: "Cursed" } as const;
    expect(describeOrder(placed, dead, 0)).toMatchObject({
      label: "Dead letter",
      detail: "Cursed. Moved to the dead-letter queue after 4 attempts",
      marks: ["failed", "failed", "failed", "failed"],
    });
    expect(describeOrder(placed, { ...dead, attempts: 0, reason: null }, 0).detail).toBe(
      "It failed. Moved to the dead-letter queue",
    );
  });

  it("draws a hundred attempts as a few", () => {
    const charged = { state: "charged", id: "o", cents: 1, attempts: 101 } as const;
    expect(describeOrder(placed, charged, 0).marks).toHaveLength(8);
  });
});

describe("shareRun", () => {
  it("counts orders without a report as queued", () => {
    expect(shareRun(10, undefined)).toEqual({ queued: 10, charged: 0, retrying: 0, dead: 0 });
    const report = { id: "r", charged: 5, retrying: 2, dead: 1 };
    expect(shareRun(10, report)).toEqual({ queued: 2, charged: 5, retrying: 2, dead: 1 });
  });
});

describe("a settled entry", () => {
  it("is an order that was charged or moved to the dead-letter queue", () => {
    expect(isOrderSettled(undefined)).toBe(false);
    expect(isOrderSettled({ state: "retrying", id: "o", attempts: 1, reason: "", nextAttemptAt: null })).toBe(
      false,
    );
    expect(isOrderSettled({ state: "charged", id: "o", attempts: 1, cents: 1 })).toBe(true);
    expect(isOrderSettled({ state: "dead", id: "o", attempts: 4, reason: null })).toBe(true);
  });

  it("is a bulk run without queued or retrying orders", () => {
    expect(isRunSettled(10, undefined)).toBe(false);
    expect(isRunSettled(10, { id: "r", charged: 9, retrying: 0, dead: 0 })).toBe(false);
    expect(isRunSettled(10, { id: "r", charged: 8, retrying: 1, dead: 1 })).toBe(false);
    expect(isRunSettled(10, { id: "r", charged: 9, retrying: 0, dead: 1 })).toBe(true);
  });
});
