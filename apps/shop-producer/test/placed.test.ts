import { describe, expect, it } from "vitest";
import { withNews } from "../public/placed.js";

const order = { kind: "order", id: "o", lines: [], placedAt: 0, delaySeconds: 0 } as const;
const run = { kind: "run", id: "r", count: 10, placedAt: 0, delaySeconds: 0 } as const;
const charged = { state: "charged", id: "o", attempts: 1, cents: 1800 } as const;
const dead = { state: "dead", id: "o", attempts: 4, reason: null } as const;

function news(
  orders: Parameters<typeof withNews>[1]["orders"],
  bulks: Parameters<typeof withNews>[1]["bulks"] = [],
) {
  return { orders, bulks };
}

describe("withNews", () => {
  it("adds the reports on an order and on a run", () => {
    const report = { id: "r", charged: 4, retrying: 1, dead: 0 };
    const placed = withNews([{ ...order, lines: [] }, { ...run }], news([charged], [report]));
    expect(placed.map((entry) => entry.report)).toEqual([charged, report]);
  });

  it("leaves entries without a report unchanged", () => {
    const placed = [{ ...order, lines: [] }];
    expect(withNews(placed, news([{ ...charged, id: "another" }]))).toEqual(placed);
  });

  it("keeps settled entries, even after later reports", () => {
    const placed = [{ ...order, lines: [], report: charged }];
    expect(withNews(placed, news([dead]))[0]?.report).toEqual(charged);
  });
});
