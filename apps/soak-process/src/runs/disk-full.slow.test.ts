import { describe, expect, it } from "vitest";
import { WorkersScenario } from "../load/workers-scenario.ts";
import { runDiskFull } from "./disk-full.ts";
import { SmallDisk } from "./small-disk.ts";

const canMount = await SmallDisk.canMount();
if (!canMount) console.warn("A disk cannot be mounted here, which needs root: full disks are not tested.");

describe.runIf(canMount)("a disk that is full under load", () => {
  it("refuses sends as production does, loses no acknowledged message and goes on when there is room", async () => {
    const result = await runDiskFull({
      open: (persistDir) => WorkersScenario.open(20_260, persistDir),
      times: 2,
      killedShare: 0,
    });
    expect(result.violationTexts).toEqual([]);
    expect(result.lines).toEqual([]);
    expect(result).toMatchObject({ lost: 0, violations: 0, resumed: 2, isDrained: true, hasEnded: false });
    expect(result.refused).toBeGreaterThan(0);
    // A call that the platform ends while the object is reset fails without a reason.
    const known = /\(10251\)|\(15000\)/;
    expect(result.refusals.filter((text) => !known.test(text))).toEqual([]);
    expect(result.refusals.some((text) => text.includes("(10251)"))).toBe(true);
  });
});
