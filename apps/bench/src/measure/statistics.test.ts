import { describe, expect, it } from "vitest";
import { latency, mean, median, medians, percentile } from "./statistics.ts";

const ONE_TO_100 = Array.from({ length: 100 }, (_, i) => 100 - i);

describe("a percentile", () => {
  it("is the value that so many of the values do not exceed", () => {
    expect(percentile(ONE_TO_100, 0.5)).toBe(50);
    expect(percentile(ONE_TO_100, 0.99)).toBe(99);
    expect(percentile(ONE_TO_100, 1)).toBe(100);
  });

  it("is the smallest value for a share of nothing", () => {
    expect(percentile(ONE_TO_100, 0)).toBe(1);
  });

  it("sorts by number, not by text", () => {
    expect(percentile([9, 10, 100], 0.5)).toBe(10);
  });

  it("of one value is that value", () => {
    expect(percentile([7], 0.5)).toBe(7);
    expect(percentile([7], 0.99)).toBe(7);
  });

  it("of no values is no number", () => {
    expect(percentile([], 0.5)).toBeNaN();
  });
});

describe("a median", () => {
  it("is the middle one of three runs in any order", () => {
    expect(median([30, 10, 20])).toBe(20);
  });

  it("is between the middle two of four", () => {
    expect(median([1, 100, 3, 2])).toBe(2.5);
  });

  it("of no runs is no number", () => {
    expect(median([])).toBeNaN();
  });
});

describe("medians of several runs", () => {
  const run = (rate: number, ms: number, cpuMicrosPerMessage: number | null) => ({
    sentPerSecond: rate,
    handledPerSecond: rate / 2,
    cpuMicrosPerMessage,
    call: { meanMs: ms, p50Ms: ms, p99Ms: 3 * ms },
  });

  it("take each figure by itself", () => {
    expect(medians([run(300, 1, 10), run(100, 2, 30), run(200, 9, 20)])).toEqual({
      sentPerSecond: 200,
      handledPerSecond: 100,
      cpuMicrosPerMessage: 20,
      call: { meanMs: 2, p50Ms: 2, p99Ms: 6 },
    });
  });

  it("have no CPU time where a run has none", () => {
    expect(medians([run(1, 1, null)]).cpuMicrosPerMessage).toBeNull();
    expect(medians([run(1, 1, 10), run(1, 1, null), run(1, 1, 20)]).cpuMicrosPerMessage).toBeNull();
  });
});

describe("the latency of a run", () => {
  it("has mean, median and 99th percentile", () => {
    expect(latency(ONE_TO_100)).toEqual({ meanMs: 50.5, p50Ms: 50, p99Ms: 99 });
  });

  it("leaves the values as they are", () => {
    const values = [3, 1, 2];
    latency(values);
    expect(values).toEqual([3, 1, 2]);
    expect(mean(values)).toBe(2);
  });
});
