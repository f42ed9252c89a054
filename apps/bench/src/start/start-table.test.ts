import { expect, it } from "vitest";
import { startTable } from "./start-table.ts";

it("shows the figures of both commands and what one has of the other", () => {
  const ours = { readyMs: 3_000, handledMs: 3_300, reloadMs: 400, residentBytes: 600_000_000 };
  const theirs = { readyMs: 2_000, handledMs: 2_200, reloadMs: 800, residentBytes: 500_000_000 };
  expect(
    startTable([
      { command: "sluice dev", ...ours },
      { command: "wrangler dev", ...theirs },
    ]).split("\n"),
  ).toEqual([
    "| command      | first answer s | first message handled s | reload s | memory MB |",
    "| ------------ | -------------: | ----------------------: | -------: | --------: |",
    "| sluice dev   |           3.00 |                    3.30 |     0.40 |       600 |",
    "| wrangler dev |           2.00 |                    2.20 |     0.80 |       500 |",
    "| ratio        |           1.50 |                    1.50 |     0.50 |      1.20 |",
  ]);
});

it("shows a dash for a memory that is not known", () => {
  const figures = { readyMs: 1, handledMs: 1, reloadMs: 1, residentBytes: null };
  expect(startTable([{ command: "sluice dev", ...figures }])).toMatch(/- \|$/);
});
