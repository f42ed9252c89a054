import { beforeAll, describe, expect, it } from "vitest";
import { PLANTED_BUGS } from "../planted/index.ts";
import { type HistoryReport, runHistory } from "./history.ts";

const SEEDS = 40;

describe("a history", () => {
  const reports: HistoryReport[] = [];
  beforeAll(async () => {
    for (let seed = 1; seed <= SEEDS; seed++) reports.push(await runHistory(seed));
  });

  it("goes the same way every time its seed is run", async () => {
    for (const first of reports) {
      const second = await runHistory(first.seed, { verbose: true });
      expect({ ...second, lines: null }).toEqual(first);
    }
  });

  it("goes another way for another seed", () => {
    expect(new Set(reports.map(({ hash }) => hash)).size).toBe(SEEDS);
  });

  it("ends with its first violation, and the same way again", async () => {
    const bug = PLANTED_BUGS.find(({ property }) => property === "conservation");
    if (bug === undefined) throw new Error("no bug is planted");
    for (let seed = 1; seed <= 20; seed++) {
      const [first, second] = [await runHistory(seed, { bug }), await runHistory(seed, { bug })];
      expect(second).toEqual(first);
      if (first.violation !== null) {
        expect(first.violation.event).toBe(first.events);
        return;
      }
    }
    throw new Error("the bug was not found");
  });
});
