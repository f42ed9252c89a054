import { cpuMsOf } from "@sluice/protocol/test/cpu-time";
import { expect, it } from "vitest";
import { withoutOwnFrames } from "./own-frames.ts";

const OWN = ["/opt/sluice"];

it.each([
  ["/opt/sluice/a.js:1:2", "    at /home/b.ts:3:4", "    at /home/b.ts:3:4"],
  ["run (/opt/sluice/a.js:1:2)", "    at x (y) (/home/b.ts:3:4)", "    at x (y) (/home/b.ts:3:4)"],
  [
    "run (file:///opt/sluice/a.js:1:2)",
    "    at async b (\n/home/b.ts:3:4)",
    "    at async b (\n/home/b.ts:3:4)",
  ],
  ["async\n  /opt/sluice/a.js:1:2", "    at b\n(/home/b.ts:3:4)", "    at b\n(/home/b.ts:3:4)"],
  ["run (/opt/sluice/(1)/a.js:1:2)", "    at b (/home/b.ts:3:4)", "    at b (/home/b.ts:3:4)"],
  ["run (node:internal/a:1:2)", "    at b (/home/b.ts:3:4)", "    at b (/home/b.ts:3:4)"],
  ["a (/opt/sluice/a.js:1:2) {", "    at b (/home/b.ts:3:4)", " {\n    at b (/home/b.ts:3:4)"],
])("a frame of ours or of the runtime, %s, is left out beside one of the user's", (own, user, rest) => {
  const separator = rest.startsWith(" {") ? "" : "\n";
  expect(withoutOwnFrames(`Error: no\n    at ${own}\n${user}`, OWN, false)).toBe(
    `Error: no${separator}${rest}`,
  );
});

it.each([
  "    at run (/opt/sluice/a.js:1)",
  "    at run (/opt/sluice/a.js:1:2) and more",
  "    at run (opt/sluice:1:2)",
])("what is no frame of ours stays: %s", (line) => {
  const message = `Error: no\n${line}\n    at b (/home/b.ts:3:4)`;
  expect(withoutOwnFrames(message, OWN, false)).toBe(message);
});

it.each(["/", " ", " /", "/ :1:", ":1", "(", " (/:1", "\n    at x"])(
  "a long frame of %j is read in one pass",
  async (part) => {
    const message = `Error: no\n    at /${part.repeat(128_000)}!`;
    const tookMs = await cpuMsOf(() => expect(withoutOwnFrames(message, OWN, false)).toBe(message));
    // Milliseconds are enough; reading on from each part to the end takes many seconds.
    expect(tookMs).toBeLessThan(1_000);
  },
);

const ON_WINDOWS = ["C:\\Users\\A B\\sluice"];

it.each([
  "run (C:\\Users\\A B\\sluice\\a.js:1:2)",
  "run (file:///C:/Users/A%20B/sluice/a.js:1:2)",
  "run (c:/users/a b/sluice/a.js:1:2)",
])("on Windows a frame of ours, %s, is left out beside one of the user's", (own) => {
  for (const user of ["D:\\shop\\b.ts:3:4", "file:///C:/shop/b.ts:3:4", "file://server/share/b.ts:3:4"]) {
    const rest = `    at async queue (${user})`;
    expect(withoutOwnFrames(`Error: no\n    at ${own}\n${rest}`, ON_WINDOWS, true)).toBe(
      `Error: no\n${rest}`,
    );
  }
});

it.each([false, true])("an address that is no file is the user's, on Windows: %s", (windows) => {
  const message = "Error: no\n    at a (file:///%2F/b.ts:3:4)\n    at b (file://else.where/%00:1:2)";
  expect(withoutOwnFrames(message, [...OWN, ...ON_WINDOWS], windows)).toBe(message);
});
