import { describe, expect, it } from "vitest";
import { ago, ahead, duration, moment, plural, shortUrl, size, span } from "./format.ts";

const NOW = "2026-11-21T12:00:00.000Z";
const at = (ms: number) => new Date(Date.parse(NOW) + ms).toISOString();

describe("a text for people", () => {
  it.each([
    [999, "999 B"],
    [1_000, "1.0 kB"],
    [999_949, "999.9 kB"],
    [1_000_000, "1.0 MB"],
  ])("has %i bytes as %s", (bytes, text) => expect(size(bytes)).toBe(text));

  it.each([
    [-5_000, "0 s"],
    [59_499, "59 s"],
    [60_000, "1 min"],
    [3_600_000, "1 h"],
    [86_399_000, "23 h"],
    [86_400_000, "1 d"],
  ])("has %i ms as %s", (ms, text) => expect(span(ms)).toBe(text));

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

  it("has the singular for one message", () => {
    expect([0, 1, 1_000].map((count) => plural(count, "message"))).toEqual([
      "0 messages",
      "1 message",
      "1,000 messages",
    ]);
  });

  it("has a URL without what may be a key", () => {
    expect(shortUrl("https://user:secret@shop.example:8443/hook?key=secret#part")).toBe(
      "https://shop.example:8443/hook?…",
    );
    expect(shortUrl("http://shop.example/hook")).toBe("http://shop.example/hook");
    expect(shortUrl("no URL")).toBe("no URL");
  });
});
