import { describe, expect, it } from "vitest";
import { CALL_MS_MAX, playHistory, type SharingWay } from "../test/isolate.ts";
import { CALL_LOST_MS, PATIENCE_MS_MAX, REGATHER_MS_MAX } from "./shared-call.ts";

const SEEDS = 300;
/** Of requests that nothing ends: none, some, all. */
const LASTING_SHARES = [0, 0.5, 1];

const WAYS: readonly (readonly [string, SharingWay])[] = [
  ["whose calls go out at once", {}],
  ["whose calls give those before time to come again", { regatherMs: REGATHER_MS_MAX }],
  ["whose calls gather what comes at their moment", { gather: someTurns }],
];

async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 24; turn++) await undefined;
}

const lastingShareOf = (seed: number) => LASTING_SHARES[seed % LASTING_SHARES.length] ?? 0;

describe.each(WAYS)("requests %s", (_, way) => {
  it("go along with one call at most, and hear of their own item what came of it, whatever becomes of others", async () => {
    let lost = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const course = { goneShare: 0.15, lastingShare: lastingShareOf(seed) };
      const { requests, carried } = await playHistory(seed, course, way);
      const twice = [...carried].filter(([, times]) => times > 1);
      expect(twice, `seed ${seed}`).toEqual([]);
      for (const { item, isGone, settled, cameMs, settledMs } of requests) {
        if (isGone) continue;
        const where = `seed ${seed}, request ${item}`;
        expect(settled, where).toMatch(/^(answered|failed|lost)$/);
        expect(settledMs - cameMs, where).toBeLessThanOrEqual(CALL_LOST_MS + 3 * PATIENCE_MS_MAX);
        if (settled === "lost") lost += 1;
        else expect(carried.get(item), where).toBe(1);
      }
    }
    // Or nobody was ever ended in the middle of a call that others went along with.
    expect(lost).toBeGreaterThan(0);
  });

  it("are all answered soon while none of them is ended, and leave nothing behind", async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const course = { goneShare: 0, lastingShare: lastingShareOf(seed) };
      const { requests, shared } = await playHistory(seed, course, way);
      for (const { item, settled, cameMs, settledMs } of requests) {
        const where = `seed ${seed}, request ${item}`;
        expect(settled, where).toMatch(/^(answered|failed)$/);
        expect(settledMs - cameMs, where).toBeLessThanOrEqual(PATIENCE_MS_MAX + 2 * CALL_MS_MAX);
      }
      expect(shared.isIdle, `seed ${seed}`).toBe(true);
    }
  });
});
