import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fourPhaseDelayMs } from "./four-phase.ts";
import { JITTERS, type Jitter, jittered, jitterRandom } from "./jitter.ts";
import { SNS_PRESETS } from "./presets.ts";

const ARN = "arn:aws:sns:us-east-1:000000000000:t:s";

describe("the random number of a retry (spec sns-delivery 5, A12)", () => {
  it.each([
    ["m-1", 1, 0.20795829547569156],
    ["m-2", 1, 0.40146002476103604],
    ["m-1", 6, 0.8496161543298513],
    ["m-2", 6, 0.8715787653345615],
    ["m-1", 16, 0.24102573841810226],
  ])("the random number of a retry of message %s, retry %d", (message, retry, expected) => {
    expect(jitterRandom("seed", ARN, message, retry)).toBe(expected);
  });

  it("is the same after a restart and another one for each retry, message, scope and seed (A13)", () => {
    const random = () => jitterRandom("seed", ARN, "m-1", 1);
    expect(random()).toBe(random());
    const others = [
      jitterRandom("seed 2", ARN, "m-1", 1),
      jitterRandom("seed", `${ARN}2`, "m-1", 1),
      jitterRandom("seed", ARN, "m-3", 1),
      jitterRandom("seed", ARN, "m-1", 2),
    ];
    expect(new Set([random(), ...others]).size).toBe(5);
  });

  it("spreads evenly: every tenth gets its share of 10,000 messages", () => {
    const tenths = Array<number>(10).fill(0);
    for (let i = 0; i < 10_000; i++) {
      const tenth = Math.floor(10 * jitterRandom("seed", "orders", `message ${i}`, 1));
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    for (const share of tenths) expect(Math.abs(share - 1000)).toBeLessThan(150);
  });
});

describe("jitter of the sample policy (spec sns-delivery 5)", () => {
  it.each<[Jitter, number[]]>([
    ["equal", [0, 0, 0, 902, 879, 925, 586, 1304, 1429, 1707, 3240, 4525, 12860, 20444, 42483, 37231]],
    ["full", [0, 0, 0, 804, 758, 850, 57, 1263, 1050, 681, 1902, 776, 10058, 10446, 24965, 14462]],
  ])("the jitter %s spreads the sample policy as computed", (jitter, expected) => {
    const found = expected.map((_, i) => {
      const delayMs = fourPhaseDelayMs(SNS_PRESETS["sns-http-sample"], i + 1) ?? -1;
      return jittered(delayMs, jitter, jitterRandom("seed", ARN, "m-1", i + 1));
    });
    expect(found).toEqual(expected);
  });

  it("never makes a delay longer, equal none shorter than half of it", () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.nat(), random, fc.constantFrom(...JITTERS), (delayMs, u, jitter) => {
        const found = jittered(delayMs, jitter, u);
        expect(Number.isInteger(found)).toBe(true);
        expect(found).toBeLessThanOrEqual(delayMs);
        expect(found).toBeGreaterThanOrEqual(jitter === "full" ? 0 : delayMs / 2);
        if (jitter === "none") expect(found).toBe(delayMs);
      }),
    );
  });
});
