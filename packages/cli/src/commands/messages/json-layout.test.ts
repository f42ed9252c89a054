import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compact, laidOut } from "./json-layout.ts";

describe("JSON laid out in lines", () => {
  it.each([
    ['{"a":[1,"b c"]}', '{\n  "a": [\n    1,\n    "b c"\n  ]\n}'],
    ['{"a": 1}', '{\n  "a": 1\n}'],
    ['{"id":12345678901234567890}', '{"id":12345678901234567890}'],
    ['{"a":1,"a":2}', '{"a":1,"a":2}'],
    ['{"n": 1.0}', '{"n": 1.0}'],
    ["no JSON", "no JSON"],
  ])("%s is shown as %j", (text, shown) => {
    expect(laidOut(text)).toBe(shown);
  });

  it("is the same JSON again without its blanks", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const packed = JSON.stringify(JSON.parse(text));
        expect(compact(laidOut(packed))).toBe(packed);
      }),
    );
  });

  it("keeps blanks and escaped quotes in strings", () => {
    expect(compact('{ "a \\" b" : " \\\\" ,\n "c": 1 }')).toBe('{"a \\" b":" \\\\","c":1}');
  });
});
