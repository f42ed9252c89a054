import { describe, expect, it } from "vitest";
import { CALL_LOST_MS } from "../src/shared-call.ts";
import { CALL_MS_MAX, playHistory } from "./isolate.ts";

const SEEDS = 300;

/**
 * What holds of everything that lets requests share calls, over many histories.
 *
 * @param patienceMsMax how long an item waits for others at most, in ms.
 */
export function testSharing(share: Parameters<typeof playHistory>[2], patienceMsMax: number): void {
  describe("requests that share calls, whatever becomes of each of them", () => {
    it("go along with one call at most, and hear of their own item what came of it", async () => {
      let lost = 0;
      for (let seed = 1; seed <= SEEDS; seed++) {
        const { requests, carried } = await playHistory(seed, 0.15, share);
        const twice = [...carried].filter(([, times]) => times > 1);
        expect(twice, `seed ${seed}`).toEqual([]);
        for (const { item, isGone, settled, cameMs, settledMs } of requests) {
          if (isGone) continue;
          const where = `seed ${seed}, request ${item}`;
          expect(settled, where).toMatch(/^(answered|failed|lost)$/);
          expect(settledMs - cameMs, where).toBeLessThanOrEqual(CALL_LOST_MS + 3 * patienceMsMax);
          if (settled === "lost") lost += 1;
          else expect(carried.get(item), where).toBe(1);
        }
      }
      // Or nobody was ever ended in the middle of a call that others went along with.
      expect(lost).toBeGreaterThan(0);
    });

    it("are all answered soon while none of them is ended, and leave nothing behind", async () => {
      for (let seed = 1; seed <= SEEDS; seed++) {
        const { requests, shared } = await playHistory(seed, 0, share);
        for (const { item, settled, cameMs, settledMs } of requests) {
          const where = `seed ${seed}, request ${item}`;
          expect(settled, where).toMatch(/^(answered|failed)$/);
          expect(settledMs - cameMs, where).toBeLessThanOrEqual(patienceMsMax + 2 * CALL_MS_MAX);
        }
        expect(shared.isIdle, `seed ${seed}`).toBe(true);
      }
    });
  });
}
