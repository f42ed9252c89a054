import { describe, expect, it } from "vitest";
import { WorkersScenario } from "../load/workers-scenario.ts";
import { runKills } from "./kills.ts";

const KILLS = 5;

describe("kill -9 under load", () => {
  it("loses no acknowledged message, cuts no delay short and makes no attempt go back", async () => {
    const result = await runKills({
      open: () => WorkersScenario.open(20_267),
      kills: KILLS,
      epochMsMax: 500,
      storedMin: 40,
    });
    expect(result.violationTexts).toEqual([]);
    expect(result.lines).toEqual([]);
    expect(result).toMatchObject({ lost: 0, violations: 0, isDrained: true });
    // There was a load: messages were stored, and kills came in the middle of it.
    expect(result.acknowledged).toBeGreaterThan(100);
    expect(result.unanswered).toBeGreaterThan(0);
  });
});
