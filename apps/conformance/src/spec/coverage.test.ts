import { describe, expect, it } from "vitest";
import { coverageOf } from "./coverage.ts";
import { readSpecRows } from "./spec-rows.ts";

const spec = [
  { key: "1 a", sources: ["docs"], excuse: null },
  { key: "1 b", sources: ["docs"], excuse: null },
  { key: "1 c", sources: ["docs"], excuse: "advice" },
];
const row = (covers: readonly string[]) => ({ id: "row", production: "", covers });

describe("coverage", () => {
  it("tells what is proven, what is not yet, and what cannot be", () => {
    expect(coverageOf([row(["1 a"])], spec)).toEqual({
      covered: ["1 a"],
      uncovered: ["1 b"],
      excused: ["1 c"],
    });
  });

  it("takes a chapter for all that is in it", () => {
    expect(coverageOf([row(["1"])], spec).covered).toEqual(["1 a", "1 b", "1 c"]);
  });

  it("takes a proof over an excuse", () => {
    expect(coverageOf([row(["1 c"])], spec)).toMatchObject({ covered: ["1 c"], excused: [] });
  });

  it("refuses a row that the specification does not have", () => {
    expect(() => coverageOf([row(["1 d"])], spec)).toThrow('row covers "1 d", which is no row');
  });
});

describe("spec-rows.txt", () => {
  it("says of each row where it is known from", () => {
    const sources = new Set(readSpecRows().flatMap((known) => known.sources));
    expect([...sources].sort()).toEqual(["docs", "seed", "source"]);
  });
});
