import { describe, expect, it } from "vitest";
import { bulkOrders, chunks, SEND_BATCH_MAX } from "./bulk.ts";
import { CATALOGUE } from "./catalogue.ts";

describe("bulkOrders", () => {
  it("makes a number of orders, each with its own id", () => {
    const orders = bulkOrders("run", "ada-lovelace", 1234, 5);
    expect(orders).toHaveLength(1234);
    expect(new Set(orders.map(({ id }) => id)).size).toBe(1234);
    expect(orders.every((order) => order.bulk === "run" && order.customer === "ada-lovelace")).toBe(true);
  });

  it("orders one vase and four lamps in a hundred", () => {
    const skus = bulkOrders("run", "ada-lovelace", 300, 5).flatMap(({ lines }) =>
      lines.map(({ sku }) => sku),
    );
    expect(skus.filter((sku) => sku === "vase")).toHaveLength(3);
    expect(skus.filter((sku) => sku === "lamp")).toHaveLength(12);
  });

  it("orders at the catalogue's price", () => {
    const prices = new Map(CATALOGUE.map(({ sku, priceCents }) => [sku, priceCents]));
    for (const { lines } of bulkOrders("run", "ada-lovelace", 100, 5)) {
      expect(lines).toEqual([
        { sku: lines[0]?.sku, quantity: 1, unitPriceCents: prices.get(lines[0]?.sku ?? "") },
      ]);
    }
  });
});

describe("chunks", () => {
  it.each([
    [99, [99]],
    [100, [100]],
    [101, [100, 1]],
    [250, [100, 100, 50]],
  ])("cuts %s items into parts of at most a hundred", (count, sizes) => {
    const items = Array.from({ length: count }, (_, at) => at);
    const parts = chunks(items, SEND_BATCH_MAX);
    expect(parts.map((part) => part.length)).toEqual(sizes);
    expect(parts.flat()).toEqual(items);
  });
});
