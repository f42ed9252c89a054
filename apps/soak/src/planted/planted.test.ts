import { describe, expect, it } from "vitest";
import { CHECKERS } from "../checkers/index.ts";
import { hunt } from "./hunt.ts";
import { PLANTED_BUGS } from "./index.ts";

/** Histories within which every planted bug has to be found: a 20-second run has thousands. */
const SEEDS_MAX = 600;

describe("every property can fail", () => {
  it.each(PLANTED_BUGS)("$property: $name", { timeout: 120_000 }, async (bug) => {
    const found = await hunt(bug, SEEDS_MAX);
    expect(found?.violation?.property).toBe(bug.property);
  });

  it("and none is watched without a planted bug that breaks it", () => {
    const broken = new Set(PLANTED_BUGS.map(({ property }) => property));
    expect([...broken].sort()).toEqual(CHECKERS.map(({ property }) => property).sort());
  });
});
