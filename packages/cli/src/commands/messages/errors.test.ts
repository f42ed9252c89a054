import type { ErrorsView } from "@sluice/gateway/views";
import { expect, it } from "vitest";
import { groupLines } from "./errors.ts";

const NONE: ErrorsView = { groups: [], others: 0, none: 0, matched: 0, searched: 0, of: 0 };

it("errors are listed with their counts, those that are alike by what they have in common", () => {
  const groups = [
    { error: "Error: order 1 declined", count: 1_200, text: "Error: order # declined" },
    { error: "Error: \u001b[2Jno stock", count: 3 },
  ];
  const counts = { ...NONE, groups, others: 1, none: 2, matched: 1_206, searched: 1_206, of: 1_206 };
  expect(groupLines(counts)).toEqual([
    "1,200 Error: order # declined",
    "    3 Error: \\x1b[2Jno stock",
    "    1 with other errors",
    "    2 without a known error",
  ]);
  expect(groupLines({ ...counts, of: 5_000 }).at(-1)).toBe(
    "Counted among the first 1,206 of 5,000 messages.",
  );
});

it("there is nothing to list where no error is known", () => {
  expect(groupLines({ ...NONE, none: 4, matched: 4, searched: 4, of: 4 })).toEqual([]);
});
