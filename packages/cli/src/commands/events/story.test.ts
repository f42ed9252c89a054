import { expect, it } from "vitest";
import { gapText } from "./story.ts";

it.each([
  ["off", null, /^Events of orders may be missing: it keeps no history/],
  [
    "overwritten",
    "2026-01-01T00:00:00.000Z",
    /missing until 2026-01-01T00:00:00\.000Z: later events have replaced them\.$/,
  ],
  ["merged", null, /it had too many events to keep each one\.$/],
  ["unknown", null, /it recorded nothing of this message\.$/],
] as const)("a story explains its gap in words: %s", (reason, until, text) => {
  expect(gapText({ queue: "orders", reason, until })).toMatch(text);
});
