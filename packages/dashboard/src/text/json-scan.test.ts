import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { layOut, scanJson } from "./json-scan.ts";

const laidOut = (text: string) => {
  const scanned = scanJson(text);
  return scanned.ok
    ? layOut(scanned.tokens)
        .map((token) => token.text)
        .join("")
    : null;
};

describe("a JSON text", () => {
  it("is laid out as JSON.stringify does, with any blanks in it", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.constantFrom(undefined, 1, "\t"), (json, indent) => {
        const value = JSON.parse(json);
        expect(laidOut(JSON.stringify(value, null, indent))).toBe(JSON.stringify(value, null, 2));
      }),
    );
  });

  it("keeps numbers and doubled names as they were written", () => {
    expect(laidOut('{"a":12345678901234567890.10,"a":1e5}')).toBe(
      '{\n  "a": 12345678901234567890.10,\n  "a": 1e5\n}',
    );
  });

  it("is taken by the scanner exactly when the browser takes it", () => {
    const pieces = fc.array(
      fc.constantFrom("{", "}", "[", "]", ",", ":", '"a"', "1", "-", "0", "true", " ", "\n", '"\\', "."),
    );
    fc.assert(
      fc.property(pieces, (parts) => {
        const text = parts.join("");
        expect(scanJson(text).ok).toBe(isJson(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ["", 1, 1, "The text ends where a value should be."],
    ['{"a": 1,}', 1, 9, 'There is "}" where a name in double quotes should be.'],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, 'There is "\\"" where "," or "}" should be.'],
    ["{a: 1}", 1, 2, 'There is "a" where a name in double quotes should be.'],
    ["[1, 2", 1, 6, 'The text ends where "," or "]" should be.'],
    ['{"a" 1}', 1, 6, 'There is "1" where ":" should be.'],
    ['["open]', 1, 2, "This string is not closed."],
    ['["a\\q"]', 1, 2, "This string has a backslash or a control character"],
    ["1 2", 1, 3, 'There is "2" where the end should be.'],
    [`${"[".repeat(501)}`, 1, 501, "fewer than 500 levels"],
  ])("%s is refused at line %i, column %i", (text, line, column, message) => {
    expect(scanJson(text)).toEqual({ ok: false, line, column, message: expect.stringContaining(message) });
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
