import { expect, it } from "vitest";
import { runAdoptKills } from "./adopt-kills.ts";

const KILLS = 4;

it("kill -9 of sluice adopt loses no message, and sends none twice", { timeout: 300_000 }, async () => {
  const result = await runAdoptKills({ kills: KILLS, seed: 20_271 });
  expect(result).toMatchObject({ kills: KILLS, messages: 200 * KILLS, violations: [] });
});
