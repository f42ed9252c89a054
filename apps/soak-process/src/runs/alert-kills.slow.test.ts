import { expect, it } from "vitest";
import { runAlertKills } from "./alert-kills.ts";

const RUNS = 2;

it("kill -9 around dead letters makes no alert begin or end twice, and loses none", {
  timeout: 300_000,
}, async () => {
  const result = await runAlertKills({ runs: RUNS, seed: 20_271 });
  expect(result).toMatchObject({ kills: 3 * RUNS, begun: RUNS, ended: RUNS, violations: [] });
});
