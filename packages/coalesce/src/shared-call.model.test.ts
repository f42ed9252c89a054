import { describe, expect, it } from "vitest";
import { CALL_MS_MAX, playHistory, type SharingWay } from "../test/isolate.ts";
import { CALL_LOST_MS, LINGER_MS, WAIT_MS_MAX } from "./shared-call.ts";

const SEEDS = 300;

const WAYS: readonly (readonly [string, SharingWay])[] = [
  ["whose calls go out at once", {}],
  ["whose calls linger for those before", { lingerMs: LINGER_MS }],
];

describe.each(WAYS)("requests %s", (_, way) => {
  it("go along with one call at most, and hear what came of their own item, whatever becomes of others", async () => {
    let lost = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const course = { goneShare: 0.15 };
      const { requests, carried } = await playHistory(seed, course, way);
      const twice = [...carried].filter(([, times]) => times > 1);
      expect(twice, `seed ${seed}`).toEqual([]);
      for (const { item, isGone, settled, cameMs, settledMs } of requests) {
        if (isGone) continue;
        const where = `seed ${seed}, request ${item}`;
        expect(settled, where).toMatch(/^(answered|failed|lost)$/);
        expect(settledMs - cameMs, where).toBeLessThanOrEqual(CALL_LOST_MS + 3 * WAIT_MS_MAX);
        if (settled === "lost") lost += 1;
        else expect(carried.get(item), where).toBe(1);
      }
    }
    // Else no request was ended in the middle of a call that others shared.
    expect(lost).toBeGreaterThan(0);
  });

  it("are all answered soon while none of them is ended, and leave nothing behind", async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const course = { goneShare: 0 };
      const { requests, shared } = await playHistory(seed, course, way);
      for (const { item, settled, cameMs, settledMs } of requests) {
        const where = `seed ${seed}, request ${item}`;
        expect(settled, where).toMatch(/^(answered|failed)$/);
        expect(settledMs - cameMs, where).toBeLessThanOrEqual(WAIT_MS_MAX + 2 * CALL_MS_MAX);
      }
      expect(shared.isIdle, `seed ${seed}`).toBe(true);
    }
  });
});
