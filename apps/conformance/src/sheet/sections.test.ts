import { describe, expect, it } from "vitest";
import { findTests } from "../references/find-tests.ts";
import { isReference } from "../scenario/row.ts";
import { SCENARIOS } from "../scenarios/index.ts";
import { coverageOf } from "../spec/coverage.ts";
import { readSpecRows } from "../spec/spec-rows.ts";
import { allRows } from "./sections.ts";

describe("the rows of the sheet", () => {
  it("are proven by tests elsewhere where nothing is observed, and such tests prove no other rows", () => {
    const references = allRows().flatMap((row) => (isReference(row) ? [row.id] : []));
    expect([...findTests().keys()].sort()).toEqual(references.sort());
  });

  it("have every scenario among them", () => {
    const shown = allRows().flatMap((row) => (isReference(row) ? [] : [row.id]));
    expect(shown.sort()).toEqual(SCENARIOS.map(({ id }) => id).sort());
  });

  it("leave nothing out that is known of production", () => {
    const { covered, uncovered } = coverageOf(allRows(), readSpecRows());
    expect(uncovered).toEqual([]);
    expect(covered.length).toBeGreaterThan(0);
  });
});
