import fc from "fast-check";
import { expect, it } from "vitest";
import { holdsValidTexts, isValidText } from "./text.ts";

const odd = fc.constantFrom(
  "\0",
  "\b",
  "\f",
  "\x1f",
  "\ufffe",
  "\uffff",
  "\ud800",
  "\udc00",
  "\n",
  "\t",
  '"',
  "\\",
);
const text = fc.array(fc.oneof(odd, fc.string({ unit: "binary", maxLength: 9 })), { maxLength: 4 });

it("a JSON text is never said to hold valid texts only where it holds another, however that is written", () => {
  let held = 0;
  const escaped = (json: string) =>
    json.replace(/[\ufffe\uffff]/g, (found) => `\\u${found.charCodeAt(0).toString(16)}`);
  fc.assert(
    fc.property(text, fc.boolean(), (parts, escapes) => {
      const body = parts.join("");
      const written = JSON.stringify({ MessageBody: body });
      const json = escapes ? escaped(written) : written;
      if (!holdsValidTexts(json)) return;
      held += 1;
      expect(isValidText(body)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
  expect(held).toBeGreaterThan(100);
});

it("a JSON text is said to where its texts are ordinary ones, of any language", () => {
  expect(holdsValidTexts(JSON.stringify({ MessageBody: '{"say": "hi"}\n\r\t äöü \u{1f600} 日本' }))).toBe(
    true,
  );
});
