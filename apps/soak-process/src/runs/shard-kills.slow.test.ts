import { expect, it } from "vitest";
import { ShardsScenario } from "../shards/shards-scenario.ts";
import { runKills } from "./kills.ts";

const KILLS = 3;

it("kill -9 while numbers of shards change loses nothing, and keeps order and max_concurrency", {
  timeout: 300_000,
}, async () => {
  const open = () => ShardsScenario.open(20_271, { shardsMax: 8 });
  const result = await runKills({ open, kills: KILLS, epochMsMax: 1_000, storedMin: 40 });
  expect(result.violationTexts).toEqual([]);
  expect(result.lines).toEqual([]);
  expect(result).toMatchObject({ lost: 0, violations: 0, isDrained: true });
  // There were changes, and the endpoint was used.
  expect(result.changes).toBeGreaterThan(KILLS);
  expect(result.pushed).toBeGreaterThan(0);
});
