import { expect, it } from "vitest";
import { PAYLOAD_BYTES, payload } from "./payload.ts";

it("is 200 bytes of JSON at any time", () => {
  for (const nowMs of [0, 1_795_231_559_413, 1_795_231_559_413.25, 9_999_999_999_999.5]) {
    expect(new TextEncoder().encode(JSON.stringify(payload(nowMs))).length).toBe(PAYLOAD_BYTES);
  }
});

it("keeps the moment of the send to a microsecond", () => {
  expect(Number(payload(1_795_231_559_413.25).sentMs)).toBe(1_795_231_559_413.25);
});
