import { describe, expect, it } from "vitest";
import { stackLines, userPlace } from "./stack.ts";

describe("a line of an error", () => {
  it.each([
    ["PaymentError: declined at 12:30:05", "text", null],
    ["Caused by: Error: bank says no", "text", null],
    ["    at charge (src/payment.ts:15:36)", "user", "src/payment.ts:15:36"],
    ["    at async Object.queue (src/index.ts:14:7)", "user", "src/index.ts:14:7"],
    ["    at async my orders/index.ts:1:2", "user", "my orders/index.ts:1:2"],
    ["    at Store.open [as read] (copy (1)/store.ts:3:4)", "user", "copy (1)/store.ts:3:4"],
    ["    at new Price (../shared/price.ts:9:1)", "user", "../shared/price.ts:9:1"],
    ["    at queue (entry.js:2542:36)", "user", "entry.js:2542:36"],
    ["    at JSON.parse (<anonymous>)", "user", null],
    [
      "    at async runDelivery (sluice:consumer/src/run-delivery.ts:47:1)",
      "own",
      "sluice:consumer/src/run-delivery.ts:47:1",
    ],
    ["    at node:internal/timers:588:17", "own", "node:internal/timers:588:17"],
    ["    at Fetcher.fetch (cloudflare-internal:http:1:2)", "own", "cloudflare-internal:http:1:2"],
  ] as const)("%s", (text, kind, place) => {
    expect(stackLines(text)).toEqual([{ text, kind, place }]);
  });
});

describe("the place of an error", () => {
  it("is the first one of the user's own files", () => {
    const error = [
      "ZodError: no number",
      "    at JSON.parse (<anonymous>)",
      "    at async run (sluice:consumer/src/run.ts:1:2)",
      "    at parse (node_modules/zod/index.js:3:4)",
      "    at read (src/order.ts:5:6)",
      "    at queue (src/index.ts:7:8)",
    ];
    expect(userPlace(error.join("\n"))).toBe("src/order.ts:5:6");
  });

  it.each(["Error: no stack", "Error: ours\n    at run (sluice:run.ts:1:2)"])("is missing in %j", (error) => {
    expect(userPlace(error)).toBeNull();
  });
});
