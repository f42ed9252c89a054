import { expect, it } from "vitest";
import { fourPhaseDelayMs, totalDelayMs } from "./four-phase.ts";
import { SNS_PRESETS } from "./presets.ts";

it.each<[keyof typeof SNS_PRESETS, number[], number]>([
  ["sns-http-default", [20_000, 20_000, 20_000], 60_000],
  ["sns-http-sample", [0, 0, 0, 1000, 1000, 1000, 1115], 2_228_959],
  [
    "sns-managed",
    [0, 0, 0, 1000, 1000, 1000, 1037, 1112, 1260, 1558, 2153, 3342, 5722, 10_481, 20_000, 20_000],
    2_000_049_665,
  ],
  [
    "sns-customer",
    [10_000, 10_000, 10_000, 11_155, 13_464, 18_082, 27_319, 45_793, 82_740, 156_634, 304_423, 600_000],
    24_089_610,
  ],
])(
  "presets (spec sns-delivery 1, 11.5) %s begins with its delays and takes its time",
  (name, first, totalMs) => {
    const policy = SNS_PRESETS[name];
    expect(first.map((_, i) => fourPhaseDelayMs(policy, i + 1))).toEqual(first);
    expect(totalDelayMs(policy)).toBe(totalMs);
  },
);

it("presets (spec sns-delivery 1, 11.5) knows the last of 100,015 retries as directly as the first", () => {
  const policy = SNS_PRESETS["sns-managed"];
  expect([100_014, 100_015, 100_016].map((retry) => fourPhaseDelayMs(policy, retry))).toEqual([
    20_000,
    20_000,
    null,
  ]);
});
