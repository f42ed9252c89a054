import { expect, it } from "vitest";
import { gapText } from "./story.ts";

it.each([
  ["off", null, null, /^Events of orders may be missing: it keeps no history/],
  [
    "overwritten",
    null,
    "2026-01-01T00:00:00.000Z",
    /missing until 2026-01-01T00:00:00\.000Z: later events have replaced them\.$/,
  ],
  [
    "merged",
    "2026-01-01T00:00:00.000Z",
    "2026-01-01T00:00:01.000Z",
    /missing from \S+00\.000Z until \S+01\.000Z: it had too many events to keep each one\.$/,
  ],
  ["unknown", null, null, /its history has none of this message\.$/],
  ["unknown", "2026-01-01T00:00:00.000Z", null, /missing from \S+Z: they were not noted, as a crash loses/],
] as const)("a story explains its gap in words: %s", (reason, since, until, text) => {
  expect(gapText({ queue: "orders", reason, since, until, kinds: null, after: null })).toMatch(text);
});
