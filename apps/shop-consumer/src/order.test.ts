import { describe, expect, it } from "vitest";
import { readOrder } from "./order.ts";

const order = {
  id: "o-1",
  customer: "ada",
  bulk: null,
  lines: [{ sku: "mug", quantity: 2, unitPriceCents: 1800 }],
  placedAt: 1_790_000_000_000,
};
const line = order.lines[0];

describe("readOrder", () => {
  it("accepts a single order and one of a bulk run", () => {
    expect(readOrder(order)).toEqual(order);
    expect(readOrder({ ...order, bulk: "run-1" })?.bulk).toBe("run-1");
  });

  it("drops unknown members", () => {
    expect(readOrder({ ...order, coupon: "FREE" })).toEqual(order);
  });

  it.each([
    ["a text", "order"],
    ["nothing", null],
    ["a list", [order]],
    ["an order without an id", { ...order, id: undefined }],
    ["an order with an empty customer", { ...order, customer: "" }],
    ["an order that does not say whether it is of a bulk run", { ...order, bulk: undefined }],
    ["an order without lines", { ...order, lines: [] }],
    ["an order for no pieces", { ...order, lines: [{ ...line, quantity: 0 }] }],
    ["an order for half a piece", { ...order, lines: [{ ...line, quantity: 0.5 }] }],
    ["an order with a price below nothing", { ...order, lines: [{ ...line, unitPriceCents: -1 }] }],
    ["an order placed at no time", { ...order, placedAt: Number.NaN }],
  ])("refuses %s", (_what, body) => {
    expect(readOrder(body)).toBeNull();
  });
});
