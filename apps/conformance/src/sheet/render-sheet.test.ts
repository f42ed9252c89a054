import { describe, expect, it } from "vitest";
import { type ReferenceRow, type Verdict, YES } from "../scenario/row.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { renderSheet } from "./render-sheet.ts";

const scenario: Scenario = {
  id: "either-or",
  covers: [],
  production: "a | b",
  queues: {},
  send: async () => null,
  expected: "",
  observe: () => "",
};
const reference: ReferenceRow = {
  id: "elsewhere",
  covers: [],
  production: "c",
  miniflare: { kind: "no", observed: "nothing" },
};

function lineOf(row: Scenario | ReferenceRow, sluice: Verdict, miniflare: Verdict): string | undefined {
  const text = renderSheet({
    sections: [{ title: "T", file: "t.ts", rows: [row] }],
    tests: new Map([["elsewhere", [{ file: "packages/x.test.ts", name: "does [c]" }]]]),
    measured: new Map([[row.id, { sluice, miniflare }]]),
    coverage: { covered: ["1 a"], uncovered: [], excused: [] },
    versions: "Wrangler 1",
  });
  return text.split("\n").at(-2);
}

describe("a row of the sheet", () => {
  it("says what was observed where a system differs, within its cell", () => {
    expect(lineOf(scenario, YES, { kind: "differs", observed: "b | a" })).toBe(
      "| a \\| b | **differs**: `b \\| a` | yes | [either-or](../apps/conformance/src/scenarios/t.ts) |",
    );
  });

  it("is marked where Miniflare was read and not run, and links to its tests", () => {
    expect(lineOf(reference, YES, reference.miniflare)).toBe(
      "| c | **no** †: nothing | yes | [does \\[c\\]](../packages/x.test.ts) |",
    );
  });

  it("says why Sluice does something else", () => {
    const row = { ...reference, reason: "it cannot" };
    expect(lineOf(row, { kind: "no", observed: "refused" }, YES)).toContain(
      "| **no**: refused. Why: it cannot. |",
    );
  });
});
