import { describe, expect, it } from "vitest";
import type { Order } from "./order.ts";
import { backoffSeconds, chargeCard } from "./payment.ts";

function orderOf(skus: readonly string[], id = "o-1"): Order {
  const lines = skus.map((sku) => ({ sku, quantity: 2, unitPriceCents: 1500 }));
  return { id, customer: "ada", bulk: null, lines, placedAt: 0 };
}

describe("chargeCard", () => {
  it("charges every line at the first attempt", () => {
    expect(chargeCard(orderOf(["mug", "notebook"]), 1)).toEqual({ kind: "charged", cents: 6000 });
  });

  it("is interrupted by the flaky lamp on the first two attempts, with a growing wait, and charges on the third", () => {
    const order = orderOf(["mug", "lamp"]);
    expect(chargeCard(order, 1)).toMatchObject({ kind: "interrupted", retryInSeconds: 2 });
    expect(chargeCard(order, 2)).toMatchObject({ kind: "interrupted", retryInSeconds: 4 });
    expect(chargeCard(order, 3)).toEqual({ kind: "charged", cents: 6000 });
  });

  it("is refused by the cursed vase on every attempt, with any other products", () => {
    for (const attempt of [1, 2, 3, 4, 100]) {
      expect(chargeCard(orderOf(["lamp", "vase"]), attempt).kind).toBe("refused");
    }
  });

  it("is interrupted by the kite in a third of all attempts, independently", () => {
    const orders = Array.from({ length: 9000 }, (_, n) => orderOf(["kite"], `order-${n}`));
    const failing = (attempts: readonly number[]) =>
      orders.filter((order) => attempts.every((attempt) => chargeCard(order, attempt).kind === "interrupted"))
        .length;
    expect(Math.abs(failing([1]) - 3000)).toBeLessThan(150);
    expect(Math.abs(failing([1, 2]) - 1000)).toBeLessThan(100);
    expect(Math.abs(failing([1, 2, 3, 4]) - 111)).toBeLessThan(35);
  });

  it("gives the same outcome for the same attempt of the same order", () => {
    for (let n = 0; n < 50; n++) {
      const order = orderOf(["kite"], `order-${n}`);
      expect(chargeCard(order, 2)).toEqual(chargeCard(order, 2));
    }
  });
});

describe("backoffSeconds", () => {
  it("doubles from two seconds and stops at a minute", () => {
    expect([1, 2, 3, 5, 6, 100].map(backoffSeconds)).toEqual([2, 4, 8, 32, 60, 60]);
  });
});
