import { ERROR_TEXT_MAX } from "@sluice/protocol";
import { cpuMsOf } from "@sluice/protocol/test/cpu-time";
import { describe, expect, it } from "vitest";
import { alreadyInSource, stackNamer } from "./named-stack.ts";
import type { FindSource } from "./stack-frames.ts";

const OWN = "/usr/lib/node_modules/sluice";
const ENTRY = "file:///home/me/shop/.sluice/dev/shop/.wrangler/tmp/dev-1/entry.js";

/** Sources by the rows of a bundle. */
const SOURCES = [
  "/home/me/shop/src/payment.ts",
  "/home/me/shared/price (1).ts",
  "/usr/lib/node_modules/sluice/packages/consumer/src/run-delivery.ts",
  "/usr/lib/node_modules/sluice-like/index.js",
  "/home/me/shop/.sluice/dev/shop/entry.js",
];
const find: FindSource = (url, row, column) => {
  const file = url === ENTRY ? SOURCES[row - 1] : undefined;
  return file === undefined ? null : { file, row: 15, column };
};
const named = stackNamer(find, "/home/me/shop", OWN);

describe("a frame", () => {
  it.each([
    ["the user's own", `    at charge (${ENTRY}:1:36)`, "    at charge (src/payment.ts:15:36)"],
    [
      "one that awaited",
      `    at async Object.queue (${ENTRY}:1:7)`,
      "    at async Object.queue (src/payment.ts:15:7)",
    ],
    ["one without a function", `    at ${ENTRY}:1:7`, "    at src/payment.ts:15:7"],
    ["one without a function that awaited", `    at async ${ENTRY}:1:7`, "    at async src/payment.ts:15:7"],
    ["outside of the folder", `    at price (${ENTRY}:2:1)`, "    at price (../shared/price (1).ts:15:1)"],
    ["ours", `    at run (${ENTRY}:3:1)`, "    at run (sluice:packages/consumer/src/run-delivery.ts:15:1)"],
    [
      "beside ours",
      `    at run (${ENTRY}:4:1)`,
      "    at run (../../../usr/lib/node_modules/sluice-like/index.js:15:1)",
    ],
    ["of a generated file", `    at entry (${ENTRY}:5:1)`, "    at entry (sluice:dev/shop/entry.js:15:1)"],
  ])("that is %s gets its name", (_, frame, expected) => {
    expect(named(`Error: no\n${frame}\n    at last (${ENTRY}:1:1)`)).toBe(
      `Error: no\n${expected}\n    at last (src/payment.ts:15:1)`,
    );
  });

  it.each([
    `    at charge (${ENTRY}:9:36)`,
    "    at charge (file:///elsewhere/entry.js:1:36)",
    "    at JSON.parse (<anonymous>)",
    "    at process (node:internal/process/task_queues:105:5)",
    `Error: declined at ${ENTRY}:1:36`,
  ])("stays as it is where no source is found: %s", (line) => {
    expect(named(`${line}\n${line}`)).toBe(`${line}\n${line}`);
  });
});

describe("a frame of a place in the source", () => {
  const stack = stackNamer(alreadyInSource, "/home/me/shop", OWN);

  it.each([
    ["    at a (/x) (/home/me/shop/b.ts:1:2)", "    at a (/x) (b.ts:1:2)"],
    ["    at a (/home/me/shop/b (1).ts:1:2)", "    at a (b (1).ts:1:2)"],
    ["    at async a (async /home/me/shop/b.ts?v=1?w=2:1:2)", "    at async a (async b.ts:1:2)"],
    ["    at /home/me/shop/b?c:d.ts?v=1:1:2", "    at b?c:d.ts:1:2"],
    ["    at a (/home/me/shop/b.ts:1:2", "    at a (b.ts:1:2"],
  ])("has the last file of the line, without what is added to it: %s", (frame, expected) => {
    expect(stack(`Error: no\n${frame}`)).toBe(`Error: no\n${expected}`);
  });

  it.each([
    "    at a (b.ts:1:2)",
    "    at a (/home/me/shop/b.ts:1)",
    "    at a (/home/me/shop/b.ts:1:2))",
    "    at a (/home/me/shop/b.ts:1:2) x",
    "at a (/home/me/shop/b.ts:1:2)",
  ])("is left as it is where it names no place: %s", (line) => {
    expect(stack(`Error: no\n${line}`)).toBe(`Error: no\n${line}`);
  });
});

it.each([" (/?", " (", "?", ":", ":1", " ", "/", " (async /"])(
  "a long frame of %j is read in one pass",
  async (part) => {
    // A text of the limit's length may have been cut within its last line.
    const text = `bad:\n    at ${part.repeat(8_000)}\n`;
    const tookMs = await cpuMsOf(() => expect(named(text)).toBe(text));
    // Milliseconds are enough; reading on from each part to the end takes many seconds.
    expect(tookMs).toBeLessThan(1_000);
  },
);

it.each([
  [-1, "src/payment.ts:15:3"],
  [0, `${ENTRY}:1:3`],
])("the last frame of a text of the limit %i characters: its column may have lost digits", (over, place) => {
  const frame = `\n    at charge (${ENTRY}:1:3)`;
  const whole = `${"x".repeat(ERROR_TEXT_MAX + over - 2 * frame.length)}${frame}${frame}`;
  const lines = named(whole).split("\n");
  expect(lines[1]).toBe("    at charge (src/payment.ts:15:3)");
  expect(lines[2]).toBe(`    at charge (${place})`);
});

it("places that are in the sources already lose what a dev server adds to a file", () => {
  const stack = stackNamer(alreadyInSource, "/home/me/shop", OWN);
  const text = [
    "Error: no",
    "    at charge (/home/me/shop/src/payment.ts?t=1764190000000:15:11)",
    "    at queue (file:///home/me/shop/src/a%20b.ts:1:2)",
    `    at Kt (${OWN}/dist/worker/worker.js?v=20a8e027:9:27052)`,
  ];
  expect(stack(text.join("\n")).split("\n")).toEqual([
    "Error: no",
    "    at charge (src/payment.ts:15:11)",
    "    at queue (src/a b.ts:1:2)",
    "    at Kt (sluice:dist/worker/worker.js:9:27052)",
  ]);
});
