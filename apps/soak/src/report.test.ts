import { expect, it } from "vitest";
import { type HistoryReport, runHistory } from "./history/history.ts";
import { PLANTED_BUGS } from "./planted/index.ts";
import { showProgress, showTotals, showViolation } from "./report.ts";
import { soak } from "./soak.ts";

async function violated(): Promise<HistoryReport> {
  const bug = PLANTED_BUGS.find(({ name }) => name === "the alarm is never set");
  if (bug === undefined) throw new Error("no such bug is planted");
  for (let seed = 1; ; seed++) {
    const report = await runHistory(seed, { bug, verbose: true });
    if (report.violation !== null) return report;
  }
}

it("what a run prints names the seed, the commit and the end of the log of a history that fails", async () => {
  const report = await violated();
  const text = showViolation(report, "abc1234", report.lines ?? []);
  expect(text).toContain(`seed ${report.seed}, commit abc1234; again with: pnpm soak --seed ${report.seed}`);
  expect(text).toContain(report.violation?.text);
  expect(text).toContain(report.lines?.at(-1));
  expect(text.split("\n").length).toBeLessThanOrEqual(63);
});

it("what a run prints counts histories, events, faults by kind and violations, and rounds nothing up", async () => {
  const totals = await soak({ from: 1, seeds: 20, forMs: Infinity });
  const text = showTotals({ ...totals, histories: 1_999, events: 1_999_999, ms: 1_000 });
  expect(text).toContain("1,999 histories in 1 s: 1,999 histories/s");
  expect(text).toContain("1,999,999 events, 1,000 a history");
  expect(text).toMatch(new RegExp(`request lost +${totals.faults["request lost"]}\\b`));
  expect(text).toContain("0 violations");
  expect(showProgress({ ...totals, histories: 10, ms: 4_000 })).toContain("10 histories");
});
