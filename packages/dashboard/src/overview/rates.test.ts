import { describe, expect, it } from "vitest";
import { Rates } from "./rates.ts";

describe("rates of queues", () => {
  it("count the last seconds, and fall back to zero", () => {
    const rates = new Rates();
    expect(rates.of("orders", "in", 0)).toBeNull();
    for (let second = 0; second <= 10; second++) {
      rates.add(
        "orders",
        { totals: { accepted: 100 + 30 * second, arrived: 7, acked: 20 * second } },
        1_000 * second,
      );
    }
    expect(rates.of("orders", "in", 10_000)).toBeCloseTo(30, 5);
    expect(rates.of("orders", "out", 10_000)).toBeCloseTo(20, 5);
    expect(rates.of("orders", "dead", 10_000)).toBe(0);
    expect(rates.of("orders", "in", 20_000)).toBe(0);
  });

  it("do not fall below zero when a queue wakes up and counts anew", () => {
    const rates = new Rates();
    rates.add("orders", { totals: { accepted: 1_000 } }, 0);
    rates.add("orders", { totals: { accepted: 2 } }, 1_000);
    expect(rates.of("orders", "in", 1_000)).toBe(0);
    rates.add("orders", { totals: { accepted: 6 } }, 2_000);
    expect(rates.of("orders", "in", 2_000)).toBe(4);
  });
});
