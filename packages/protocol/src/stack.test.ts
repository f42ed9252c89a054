import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cpuMsOf } from "../test/cpu-time.ts";
import { errorLine, fittedStack, stackLines, userPlace } from "./stack.ts";

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

describe("a text that has to fit", () => {
  const USER = ["    at charge (src/payment.ts:15:36)", "    at async Object.queue (file:///t/entry.js:2:7)"];
  const OWN = [
    "    at #send (sluice:producer/src/queue-producer.ts:163:1)",
    "    at Fetcher.fetch (cloudflare-internal:http:1:2)",
    "    at node:internal/timers:588:17",
  ];
  const BELOW = [
    "    at async sluiceHandlerRun (file:///t/entry.js:9:1)",
    "    at async runDelivery (file:///t/entry.js:8:1)",
  ];

  it("has no frames of ours and of the runtime's, and all that is below the call of the handler is ours", () => {
    const text = [
      "Error: no",
      ...OWN,
      ...USER,
      ...BELOW,
      "Caused by: Error: below",
      ...OWN,
      ...USER,
      ...BELOW,
    ];
    expect(fittedStack(text.join("\n"), 1_000).split("\n")).toEqual([
      "Error: no",
      ...USER,
      "Caused by: Error: below",
      ...USER,
    ]);
    expect(
      fittedStack("Error: no\n    at Object.sluiceHandlerCall (a.js:1:2)\n    at b.js:1:2", 99),
    ).toContain("b.js");
  });

  it.each([
    ["nothing but our frames", ["Error: ours", ...OWN].join("\n")],
    ["no frames", "charged lamp"],
    ["lines that are no frames", "  at home\nat node:x:1:2"],
  ])("stays as it is where it has %s", (_, text) => {
    expect(fittedStack(text, 1_000)).toBe(text);
  });

  it.each([-1, 0, 1])("is cut at %i of its limit", (more) => {
    const text = "x".repeat(100 + more);
    expect(fittedStack(text, 100)).toBe(more > 0 ? `${"x".repeat(99)}…` : text);
  });

  it("keeps the first place in the user's code, however long its message and however many frames of ours are", () => {
    const own = fc.array(fc.constantFrom(...OWN), { maxLength: 60 });
    fc.assert(
      fc.property(
        fc.nat(5_000),
        own,
        fc.nat(40),
        fc.integer({ min: 200, max: 2_000 }),
        (message, before, deep, max) => {
          const frames = Array.from({ length: deep }, (_, i) => `    at user${i} (src/deep.ts:${i + 1}:1)`);
          const text = [`Error: ${"m".repeat(message)}`, ...before, USER[0], ...frames, ...BELOW].join("\n");
          const fitted = fittedStack(text, max);
          expect(fitted.length).toBeLessThanOrEqual(max);
          expect(userPlace(fitted)).toBe("src/payment.ts:15:36");
          // No frame is there in part.
          for (const line of fitted.split("\n").slice(1)) expect([...USER, ...frames, "…"]).toContain(line);
        },
      ),
    );
  });

  it.each(["\n", " ", "\n at ", "(", ":1:1", "at ("])(
    "that is long and of %j is read in one pass",
    async (part) => {
      const tookMs = await cpuMsOf(() => {
        expect(fittedStack(part.repeat(50_000), 2_000).length).toBeLessThanOrEqual(2_000);
      });
      expect(tookMs).toBeLessThan(1_000);
    },
  );
});

it.each([
  ["its consumer has ended", "its consumer has ended"],
  ["Error: ours\n    at run (sluice:run.ts:1:2)", "Error: ours"],
  ["Error: bundled\n    at run (file:///tmp/x/index.js:2542:36)", "Error: bundled"],
  [
    "Error: declined\n    at run (sluice:run.ts:1:2)\n    at charge (src/payment.ts:15:36)\nCaused by: Error: no",
    "Error: declined (src/payment.ts:15:36)",
  ],
])("the line of %j is its first line and the place in the user's code", (error, line) => {
  expect(errorLine(error)).toBe(line);
});
