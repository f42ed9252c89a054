import { describe, expect, it } from "vitest";
import {
  beginsAfterMs,
  countsAfter,
  cutOffReason,
  type LastEnd,
  lastEndFrom,
  lastEndText,
} from "./last-end.ts";

const suspected: LastEnd = { kind: "suspected", order: ["a", "b", "c"], slotMs: 10 };
const blamed: LastEnd = { kind: "blamed", worker: "a", slotMs: 10 };

describe("how a broker's process ended", () => {
  it.each<LastEnd>([{ kind: "planned" }, { kind: "unplanned" }, blamed, suspected])(
    "is read as it was written: %j",
    (end) => expect(lastEndFrom(lastEndText(end))).toEqual(end),
  );

  it.each([
    "",
    "planned ",
    "{",
    "null",
    "7",
    '{"kind":"blamed","slotMs":1}',
    '{"kind":"blamed","worker":"a"}',
    '{"kind":"suspected","order":"a","slotMs":1}',
  ])("is unplanned by any other text: %j", (text) =>
    expect(lastEndFrom(text)).toEqual({ kind: "unplanned" }),
  );

  it.each<[LastEnd, boolean, boolean, boolean]>([
    [{ kind: "planned" }, false, false, false],
    [{ kind: "unplanned" }, true, true, true],
    [blamed, true, false, false],
    [suspected, false, false, false],
  ])("decides whose deliveries count: %j", (end, a, b, endpoint) => {
    expect([countsAfter(end, "a"), countsAfter(end, "b"), countsAfter(end, null)]).toEqual([a, b, endpoint]);
  });

  it("is the reason of what it has cut off, as far as it is known", () => {
    expect(cutOffReason(blamed)).toBe(
      "its handler ended the Workers, or did not answer, during its last delivery",
    );
    expect(cutOffReason({ kind: "unplanned" })).toBe("the broker stopped during its last delivery");
  });

  it("has the Worker that is blamed begin before all others", () => {
    expect(["a", "b", "c", null].map((worker) => beginsAfterMs(blamed, worker))).toEqual([0, 10, 10, 0]);
    expect(beginsAfterMs({ kind: "unplanned" }, "a")).toBe(0);
  });

  it("has Workers that are suspected begin one after the other, and all others with the second", () => {
    expect(["a", "b", "c", "d"].map((worker) => beginsAfterMs(suspected, worker))).toEqual([0, 10, 20, 10]);
    expect(beginsAfterMs(suspected, null)).toBe(0);
  });
});
