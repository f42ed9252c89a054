import { describe, expect, it } from "vitest";
import { complaintAbout } from "../references/find-test.ts";
import { SCENARIOS } from "../scenarios/index.ts";
import { coverageOf } from "../spec/coverage.ts";
import { readSpecRows } from "../spec/spec-rows.ts";
import { allRows } from "./sections.ts";

describe("the rows of the sheet", () => {
  it("name tests that exist", () => {
    const tests = allRows().flatMap((row) => (row.kind === "reference" ? row.tests : []));
    expect(tests.length).toBeGreaterThan(0);
    expect(tests.map(complaintAbout).filter((complaint) => complaint !== null)).toEqual([]);
  });

  it("have every scenario among them", () => {
    const shown = allRows().flatMap((row) => (row.kind === "scenario" ? [row.id] : []));
    expect(shown.sort()).toEqual(SCENARIOS.map(({ id }) => id).sort());
  });

  it("leave nothing out that is known of production", () => {
    const { covered, uncovered } = coverageOf(allRows(), readSpecRows());
    expect(uncovered).toEqual([]);
    expect(covered.length).toBeGreaterThan(0);
  });
});

describe("a reference to a test", () => {
  const file = "apps/conformance/src/sheet/sections.test.ts";

  it("is right when the file has the name", () => {
    expect(complaintAbout({ file, name: "a reference to a test" })).toBeNull();
  });

  it.each([
    [{ file, name: ["another", "name"].join(" ") }, /has no test/],
    [{ file: "apps/nowhere.test.ts", name: "x" }, /no test file/],
    [{ file: "apps/conformance/src/main.ts", name: "./sheet/make-sheet.ts" }, /no test file/],
  ])("is wrong: %j", (reference, complaint) => {
    expect(complaintAbout(reference)).toMatch(complaint);
  });
});
