import { describe, expect, it } from "vitest";
import { nextDelayMs, type RetryPolicy, retriesOf } from "./policy.ts";
import { SNS_PRESETS } from "./presets.ts";

const fixed: RetryPolicy = { kind: "fixed", delaySeconds: 30, jitter: "none" };
const exponential: RetryPolicy = { kind: "exponential", base: 30, maxSeconds: 86_400, jitter: "none" };
const sns: RetryPolicy = { kind: "sns", ...SNS_PRESETS["sns-http-sample"], jitter: "equal" };

/** A random number that must not be asked for. */
function unwanted(): number {
  throw new Error("there is no jitter");
}

describe("the delay after a failed attempt", () => {
  it("is always the same with a fixed policy", () => {
    expect([1, 2, 1_000_000].map((attempt) => nextDelayMs(fixed, attempt, unwanted))).toEqual([
      30_000, 30_000, 30_000,
    ]);
  });

  it("is base ** attempts with an exponential one, up to its maximum (spec cloudflare-queues 2.1)", () => {
    expect([1, 2, 3, 4, 100_000].map((attempt) => nextDelayMs(exponential, attempt, unwanted))).toEqual([
      30_000, 900_000, 27_000_000, 86_400_000, 86_400_000,
    ]);
    expect(nextDelayMs({ ...exponential, base: 1.5 }, 3)).toBe(3375);
  });

  it.each([
    [1023, 1_023_000],
    [1024, 1_024_000],
    [1025, 1_024_000],
  ])("is limited to exactly the maximum: %d s", (maxSeconds, delayMs) => {
    expect(nextDelayMs({ ...exponential, base: 2, maxSeconds }, 10)).toBe(delayMs);
  });

  it("is SNS's with four phases, and none when they are over", () => {
    expect([1, 6, 7, 50, 51].map((attempt) => nextDelayMs(sns, attempt))).toEqual([
      0,
      1000,
      1115,
      60_000,
      null,
    ]);
  });

  it("has the jitter of the policy when there is a random number", () => {
    const half = () => 0.5;
    expect(nextDelayMs(sns, 50, half)).toBe(45_000);
    expect(nextDelayMs({ ...fixed, jitter: "full" }, 1, half)).toBe(15_000);
    expect(nextDelayMs({ ...exponential, jitter: "equal" }, 1, half)).toBe(22_500);
  });

  it.each([0, -1, 1.5, Number.NaN])("does not exist for attempt %d", (attempt) => {
    for (const policy of [fixed, exponential, sns]) {
      expect(() => nextDelayMs(policy, attempt)).toThrow(new RangeError(`there is no attempt ${attempt}`));
    }
  });
});

it("only four phases say how many retries there are", () => {
  expect([fixed, exponential, sns].map(retriesOf)).toEqual([null, null, 50]);
});

describe("an endpoint that always fails under the sample policy", () => {
  /** Starts of all attempts, each lasting `attemptMs`, the delay counted from its end. */
  function starts(attemptMs: number): number[] {
    const policy = { ...sns, jitter: "none" } as const;
    const found = [0];
    let nowMs = 0;
    for (let delay = nextDelayMs(policy, 1); delay !== null; delay = nextDelayMs(policy, found.length)) {
      nowMs += attemptMs + delay;
      found.push(nowMs);
    }
    return found;
  }

  it("gets 51 requests, the last after 2,228,959 ms (A2)", () => {
    expect(starts(0)).toHaveLength(51);
    expect(starts(0).at(-1)).toBe(2_228_959);
  });

  it("gets the last one after 2,978,959 ms when each attempt hangs for 15 s (A3)", () => {
    expect(starts(15_000).at(-1)).toBe(2_978_959);
  });
});
