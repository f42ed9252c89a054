import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  BACKOFF_FUNCTIONS,
  type BackoffFunction,
  backoffRetries,
  type FourPhasePolicy,
  fourPhaseDelayMs,
  totalDelayMs,
} from "./four-phase.ts";
import { SNS_DEFAULTS, SNS_PRESETS } from "./presets.ts";

function backoff(min: number, max: number, count: number, backoffFunction: BackoffFunction): FourPhasePolicy {
  return { ...SNS_DEFAULTS, minDelayTarget: min, maxDelayTarget: max, numRetries: count, backoffFunction };
}

function delays(policy: FourPhasePolicy): (number | null)[] {
  return Array.from({ length: policy.numRetries }, (_, i) => fourPhaseDelayMs(policy, i + 1));
}

const SAMPLE = SNS_PRESETS["sns-http-sample"];

it.each<[BackoffFunction, number[], number]>([
  ["linear", [5000, 33333, 61667, 90000, 118333, 146667, 175000, 203333, 231667, 260000], 1_325_000],
  ["arithmetic", [5000, 10667, 22000, 39000, 61667, 90000, 124000, 163667, 209000, 260000], 985_001],
  ["geometric", [5000, 6049, 10936, 21358, 38580, 63662, 97536, 141044, 194959, 260000], 839_124],
  ["exponential", [5000, 5499, 6497, 8493, 12485, 20470, 36438, 68376, 132250, 260000], 555_508],
])(
  "ten backoff retries from 5 s to 260 s (spec sns-delivery 4.4, A1) a %s backoff has SNS's delays",
  (name, expected, sum) => {
    expect(delays(backoff(5, 260, 10, name))).toEqual(expected);
    expect(totalDelayMs(backoff(5, 260, 10, name))).toBe(sum);
  },
);

describe("the sample policy of 50 retries (spec sns-delivery 4.4)", () => {
  it.each<[BackoffFunction, number[], number]>([
    ["linear", [1000, 7556, 14111, 20667, 27222, 33778, 40333, 46889, 53444, 60000], 2_407_000],
    ["arithmetic", [1000, 2311, 4933, 8867, 14111, 20667, 28533, 37711, 48200, 60000], 2_328_333],
    ["geometric", [1000, 1243, 2373, 4785, 8770, 14573, 22410, 32477, 44951, 60000], 2_294_582],
    ["exponential", [1000, 1115, 1346, 1808, 2732, 4579, 8274, 15663, 30442, 60000], 2_228_959],
  ])("the sample policy with a %s backoff has SNS's delays", (backoffFunction, expected, total) => {
    const policy = { ...SAMPLE, backoffFunction };
    const after = Array<number>(35).fill(60_000);
    expect(delays(policy)).toEqual([0, 0, 0, 1000, 1000, ...expected, ...after]);
    expect(totalDelayMs(policy)).toBe(total);
  });

  it("is exhausted after its last retry", () => {
    expect([49, 50, 51].map((retry) => fourPhaseDelayMs(SAMPLE, retry))).toEqual([60_000, 60_000, null]);
    expect([0, -1, 1.5].map((retry) => fourPhaseDelayMs(SAMPLE, retry))).toEqual([null, null, null]);
  });
});

describe("short backoff phases (spec sns-delivery 4.3)", () => {
  it("is skipped when the other phases leave no retry", () => {
    const policy = { ...backoff(5, 260, 3, "linear"), numNoDelayRetries: 1, numMaxDelayRetries: 2 };
    expect(backoffRetries(policy)).toBe(0);
    expect(delays(policy)).toEqual([0, 260_000, 260_000]);
  });

  it.each(BACKOFF_FUNCTIONS)(
    "waits the minimum when it is alone, both ends when there are two: %s",
    (name) => {
      expect(delays(backoff(1, 3600, 1, name))).toEqual([1000]);
      expect(delays(backoff(5, 260, 2, name))).toEqual([5000, 260_000]);
    },
  );

  it.each<[BackoffFunction, number]>([
    ["linear", 132_500],
    ["arithmetic", 90_000],
    ["geometric", 50_078],
    ["exponential", 90_000],
  ])("short backoff phases of three, from 5 s to 260 s: %s waits %d ms in the middle", (name, middle) => {
    expect(delays(backoff(5, 260, 3, name))).toEqual([5000, middle, 260_000]);
  });

  it("an exponential backoff phase of four has SNS's delays", () => {
    expect(delays(backoff(5, 260, 4, "exponential"))).toEqual([5000, 41_429, 114_286, 260_000]);
  });

  it("follows SNS's own example of a linear one", () => {
    expect(delays(backoff(20, 40, 3, "linear"))).toEqual([20_000, 30_000, 40_000]);
  });
});

/** Any policy within SNS's limits but for the total time. */
const anyPolicy = fc
  .record({
    ends: fc.tuple(fc.integer({ min: 1, max: 3600 }), fc.integer({ min: 1, max: 3600 })),
    phases: fc.tuple(...Array.from({ length: 4 }, () => fc.nat({ max: 25 }))),
    backoffFunction: fc.constantFrom(...BACKOFF_FUNCTIONS),
  })
  .map(
    ({ ends, phases: [none = 0, min = 0, inner = 0, max = 0], backoffFunction }): FourPhasePolicy => ({
      minDelayTarget: Math.min(...ends),
      maxDelayTarget: Math.max(...ends),
      numRetries: none + min + inner + max,
      numNoDelayRetries: none,
      numMinDelayRetries: min,
      numMaxDelayRetries: max,
      backoffFunction,
    }),
  );

/** The phases one after the other, as the specification tells them. */
function iterated(policy: FourPhasePolicy): number[] {
  const { minDelayTarget: min, maxDelayTarget: max } = policy;
  const m = backoffRetries(policy) - 1;
  const inner: number[] = [];
  let sum = 0;
  for (let i = 0; i <= m; i++) {
    const whole = { linear: i, arithmetic: 0, geometric: i ** 2.5, exponential: 2 ** i - 1 };
    const all = { linear: m, arithmetic: (m * (m + 1)) / 2, geometric: m ** 2.5, exponential: 2 ** m - 1 };
    sum += i;
    const name = policy.backoffFunction;
    const part = name === "arithmetic" ? sum : whole[name];
    inner.push(1000 * (m === 0 ? min : min + ((max - min) * part) / all[name]));
  }
  return [
    ...Array<number>(policy.numNoDelayRetries).fill(0),
    ...Array<number>(policy.numMinDelayRetries).fill(1000 * min),
    ...inner,
    ...Array<number>(policy.numMaxDelayRetries).fill(1000 * max),
  ];
}

describe("every policy", () => {
  it("gives each retry directly what going through all of them gives", () => {
    fc.assert(
      fc.property(anyPolicy, (policy) => {
        const expected = iterated(policy);
        const found = delays(policy);
        expect(found).toHaveLength(expected.length);
        for (const [i, delay] of found.entries()) {
          expect(Math.abs((delay ?? -1) - (expected[i] ?? 0))).toBeLessThanOrEqual(0.500_001);
        }
      }),
    );
  });

  it("never waits less than before, and between its targets once it waits", () => {
    fc.assert(
      fc.property(anyPolicy, (policy) => {
        const all = delays(policy).map(Number);
        expect(all).toEqual(all.toSorted((a, b) => a - b));
        const waiting = all.slice(policy.numNoDelayRetries);
        for (const delay of waiting) {
          expect(delay).toBeGreaterThanOrEqual(1000 * policy.minDelayTarget);
          expect(delay).toBeLessThanOrEqual(1000 * policy.maxDelayTarget);
        }
        expect(all.filter((delay) => delay === 0)).toHaveLength(policy.numNoDelayRetries);
      }),
    );
  });

  it("adds up to its total", () => {
    fc.assert(
      fc.property(anyPolicy, (policy) => {
        const sum = delays(policy).reduce<number>((total, delay) => total + (delay ?? 0), 0);
        expect(totalDelayMs(policy)).toBe(sum);
      }),
    );
  });

  it.each(BACKOFF_FUNCTIONS)("reaches both ends exactly: %s", (name) => {
    for (const count of [2, 3, 10, 50, 100, 5000]) {
      const policy = backoff(1, 3600, count, name);
      expect([fourPhaseDelayMs(policy, 1), fourPhaseDelayMs(policy, count)]).toEqual([1000, 3_600_000]);
    }
  });
});
