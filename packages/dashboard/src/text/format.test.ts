import { describe, expect, it } from "vitest";
import { ago, ahead, duration, moment, shortUrl } from "./format.ts";

const NOW = "2026-11-21T12:00:00.000Z";
const at = (ms: number) => new Date(Date.parse(NOW) + ms).toISOString();

describe("a text for people", () => {
  it.each([
    [0.4, "0 ms"],
    [999, "999 ms"],
    [1_000, "1.0 s"],
    [9_940, "9.9 s"],
    [59_499, "59 s"],
    [185_000, "3 min 5 s"],
    [3_600_000, "1 h"],
    [7_800_000, "2 h 10 min"],
    [273_600_000, "3 d 4 h"],
  ])("has a duration of %i ms as %s", (ms, text) => expect(duration(ms)).toBe(text));

  it("has the day of a moment of another day", () => {
    const noon = new Date(2026, 10, 21, 12, 0, 5, 7).toISOString();
    expect(moment(noon, noon)).toBe("12:00:05.007");
    expect(moment(noon, new Date(2026, 10, 22).toISOString())).toBe("2026-11-21 12:00:05.007");
  });

  it("counts from the clock that is given", () => {
    expect(ago(at(-3_000), NOW)).toBe("3 s ago");
    expect(ago(at(-499), NOW)).toBe("just now");
    expect(ahead(at(3_000), NOW)).toBe("in 3 s");
    expect(ahead(at(-10), NOW)).toBe("now");
  });

  it("has a URL without what may be a key", () => {
    expect(shortUrl("https://user:secret@shop.example:8443/hook?key=secret#part")).toBe(
      "https://shop.example:8443/hook?…",
    );
    expect(shortUrl("http://shop.example/hook")).toBe("http://shop.example/hook");
    expect(shortUrl("no URL")).toBe("no URL");
  });
});
