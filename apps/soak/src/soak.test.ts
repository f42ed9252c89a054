import { expect, it } from "vitest";
import { OUTCOME_KINDS } from "./history/history.ts";
import { showViolation } from "./report.ts";
import { soak } from "./soak.ts";
import { FAULT_KINDS } from "./world/faults.ts";

/** `pnpm soak` runs as many as one likes. */
const SEEDS = 150;

// conformance: at-least-once
it(`holds in ${SEEDS} histories, in which everything goes wrong that can`, { timeout: 600_000 }, async () => {
  const { histories, violations, faults, outcomes } = await soak({ from: 1, seeds: SEEDS, forMs: Infinity });
  expect(violations.map((report) => showViolation(report, "under test", []))).toEqual([]);
  expect(histories).toBe(SEEDS);
  for (const kind of FAULT_KINDS) expect(faults[kind], kind).toBeGreaterThan(2);
  for (const kind of OUTCOME_KINDS) expect(outcomes[kind], kind).toBeGreaterThan(10);
});
