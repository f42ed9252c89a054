import { expect, it } from "vitest";
import { runRollouts } from "./rollouts.ts";

it("a rollout under load, with kill -9 in between, loses nothing and repeats nothing that was settled", async () => {
  const result = await runRollouts({ seed: 5, rollouts: 2, stepMsMax: 300 });
  expect(result.violationTexts).toEqual([]);
  expect(result.lines).toEqual([]);
  expect(result).toMatchObject({ lost: 0, violations: 0, isDrained: true });
  // There was a load, and both versions had their part in it.
  expect(result.acknowledged).toBeGreaterThan(100);
  expect(result.kills).toBeGreaterThan(0);
  expect(result.reset).toBeGreaterThan(10);
  expect(Math.min(result.orders.old, result.orders.new)).toBeGreaterThan(10);
});
