import { describe, expect, it } from "vitest";
import { runDamage } from "./damage.ts";

describe("state files that are damaged while nothing runs", () => {
  it("cost what is reported for the right queue, and the other queues nothing", async () => {
    const { cases, acknowledged } = await runDamage({ rounds: 3, seed: 20_260 });
    expect(cases.flatMap(({ violations }) => violations)).toEqual([]);
    expect(cases.length).toBeGreaterThan(1);
    expect(acknowledged).toBeGreaterThan(100);
  });
});
