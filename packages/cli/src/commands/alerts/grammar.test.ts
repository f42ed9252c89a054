import { ALERT_SILENCE_MS_MAX } from "@sluice/protocol";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { silenceEnd, silenceLength } from "./grammar.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-11-27T04:00:00Z") }));
afterEach(() => void vi.useRealTimers());

it.each([
  ["1ms", 1],
  ["719h", ALERT_SILENCE_MS_MAX - 3_600_000],
  ["30d", ALERT_SILENCE_MS_MAX],
])("a silence is %s long", (text, ms) => expect(silenceLength(text)).toBe(ms));

it.each(["0s", "2592000001ms", "31d"])("a silence is not %s long", (text) =>
  expect(() => silenceLength(text)).toThrow("30d long at most"),
);

it.each(["2026-12-24T18:00:00Z", "2026-12-24T18:00+01:00", "2026-11-27T04:00:00.001Z"])(
  "a silence ends at %s",
  (text) => expect(silenceEnd(text)).toBe(text),
);

it.each([
  ["tomorrow", "It is a time with its zone"],
  ["2026-12-24", "It is a time with its zone"],
  ["2026-12-24T18:00:00", "It is a time with its zone"],
  ["2026-13-24T18:00:00Z", "It is a time with its zone"],
  ["2026-11-27T04:00:00Z", "That time is over"],
])("a silence does not end at %s", (text, why) => expect(() => silenceEnd(text)).toThrow(why));
