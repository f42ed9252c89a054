import { expect, it } from "vitest";
import { gapText } from "./story.ts";

it.each([
  ["off", null, /^Of orders something may be missing: it keeps no history/],
  [
    "overwritten",
    "2026-01-01T00:00:00.000Z",
    /missing until 2026-01-01T00:00:00\.000Z: later events have taken its place\.$/,
  ],
  ["merged", null, /more happened there than is kept one by one\.$/],
  ["unknown", null, /nothing was noted there of this message\.$/],
] as const)("a gap of a story says in words why: %s", (reason, until, text) => {
  expect(gapText({ queue: "orders", reason, until })).toMatch(text);
});
