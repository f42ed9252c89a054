import { describe, expect, it } from "vitest";
import { WorkersScenario } from "../load/workers-scenario.ts";
import { runFreezes } from "./freezes.ts";

describe("SIGSTOP and SIGCONT under load", () => {
  it("loses nothing and delivers nothing twice: leases outlast the stop", async () => {
    const result = await runFreezes({
      open: () => WorkersScenario.open(20_260),
      freezes: 3,
      frozenMsMax: 1_000,
      storedMin: 40,
    });
    expect(result.violationTexts).toEqual([]);
    expect(result.lines).toEqual([]);
    expect(result).toMatchObject({ lost: 0, violations: 0, unanswered: 0, refused: 0, isDrained: true });
    expect(Object.values(result.duplicates)).toEqual([0, 0, 0]);
    expect(result.acknowledged).toBeGreaterThan(100);
  });
});
