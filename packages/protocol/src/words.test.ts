import { expect, it } from "vitest";
import {
  afterDelete,
  duringBatch,
  failedText,
  indented,
  isFailing,
  missingLines,
  oneLine,
  plural,
  pluralIs,
  printable,
  size,
  span,
} from "./words.ts";

it.each([
  [999, "999 B"],
  [1_000, "1.0 kB"],
  [999_949, "999.9 kB"],
  [1_000_000, "1.0 MB"],
])("%i bytes are %s", (bytes, text) => expect(size(bytes)).toBe(text));

it.each([
  [-5_000, "0 s"],
  [0, "0 s"],
  [59_499, "59 s"],
  [60_000, "1 min"],
  [3_599_000, "59 min"],
  [3_600_000, "1 h"],
  [86_399_000, "23 h"],
  [86_400_000, "1 d"],
])("a span of %i ms is %s", (ms, text) => expect(span(ms)).toBe(text));

it("one is counted in the singular, and thousands with a comma", () => {
  expect([plural(1, "message"), plural(2_000, "message")]).toEqual(["1 message", "2,000 messages"]);
  expect([pluralIs(1, "message"), pluralIs(0, "message")]).toEqual(["1 message is", "0 messages are"]);
});

it.each([
  [0, "That cannot be undone."],
  [
    1_000,
    "The queue keeps its last finished messages, 1,000 at most: what is among them can be read and sent again.",
  ],
])("deleted messages of a queue that keeps %i finished ones: %s", (finished, text) => {
  expect(afterDelete(finished)).toBe(text);
});

it.each([
  [1, ""],
  [2, "while its batch of 2 was handled"],
  [1_000, "while its batch of 1,000 was handled"],
])("lines of a delivery of %i were printed %j", (messages, text) => expect(duringBatch(messages)).toBe(text));

it("missing lines are said with why, and nothing is said where none is missing", () => {
  expect(missingLines({ leftOut: 0, mixed: 0 })).toEqual([]);
  expect(missingLines({ leftOut: 1, mixed: 2_000 })).toEqual([
    "Left out: 1 line, since too much was printed.",
    expect.stringMatching(/^Left out: 2,000 lines, since other deliveries ran too\. .*nodejs_als/),
  ]);
});

it("shows control characters, and leaves line ends and tabs", () => {
  expect(printable("a\u001b[31m\u009b\u0000\r\n\tü")).toBe("a\\x1b[31m\\x9b\\x00\\x0d\n\tü");
});

it("shows controls that turn the direction of a text, and characters of no width", () => {
  expect(printable("https://a\u202egro.b\u200b\u2066\ufeff\u{e0041}")).toBe(
    "https://a\\u{202e}gro.b\\u{200b}\\u{2066}\\u{feff}\\u{e0041}",
  );
});

it("shows line ends that not every terminal knows", () => {
  expect(printable("a\u2028b\u2029")).toBe("a\\u{2028}b\\u{2029}");
});

it("keeps a text on its line", () => {
  expect(oneLine("a\r\nb\tc\u2028d\u2029e\u001b")).toBe("a\\x0d b c d e\\x1b");
});

it.each([
  ["a\nb\n c\n\n  d\u001b", "a\n  b\n   c\n  \n  d\\x1b"],
  ["Error: no\n    at charge", "Error: no\n    at charge"],
])("indents the further lines of %j, once", (text, shown) => {
  expect(indented(text)).toBe(shown);
  expect(indented(shown)).toBe(shown);
});

it.each([
  [0, 5, false],
  [1, 0, false],
  [1, 1, true],
])(
  "with %i deliveries in a row that failed, and %i messages, deliveries fail: %j",
  (failures, held, fail) => {
    const none = { ready: 0, delayed: 0, leased: 0 };
    for (const state of ["ready", "delayed", "leased"]) {
      expect(isFailing(failures, { ...none, [state]: held })).toBe(fail);
    }
  },
);

it.each([
  [1, "Error: no", "the last delivery failed 4 min ago: Error: no"],
  [1, null, "the last delivery failed 4 min ago"],
  [2_000, "Error: no", "2,000 deliveries in a row failed, the last 4 min ago: Error: no"],
])("%i deliveries that failed before a queue was empty, by %j: %s", (failures, failure, text) => {
  expect(failedText(failures, "4 min ago", failure)).toBe(text);
});
