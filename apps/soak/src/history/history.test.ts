import { describe, expect, it } from "vitest";
import { PLANTED_BUGS } from "../planted/index.ts";
import { runHistory } from "./history.ts";

describe("a history", () => {
  it("goes the same way every time its seed is run", async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const [first, second] = [await runHistory(seed), await runHistory(seed, { verbose: true })];
      expect({ ...second, lines: null }).toEqual(first);
    }
  });

  it("goes another way for another seed", async () => {
    const hashes = new Set<string>();
    for (let seed = 1; seed <= 40; seed++) hashes.add((await runHistory(seed)).hash);
    expect(hashes.size).toBe(40);
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
