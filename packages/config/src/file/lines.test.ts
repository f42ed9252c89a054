import { expect, test } from "vitest";
import { KeyLines, LineIndex } from "./lines.ts";

test("a key that is not in the file has the line of the nearest table around it", () => {
  const lines = new KeyLines();
  lines.record(["queues"], 3);
  lines.record(["queues", "consumers", 0], 5);
  expect(lines.lineOf(["queues", "consumers", 0, "queue"])).toBe(5);
  expect(lines.lineOf(["queues", "consumers", 1, "queue"])).toBe(3);
  expect(lines.lineOf(["name"])).toBeUndefined();
});

test("keys with dots and numbers in quotes are not mistaken for others", () => {
  const lines = new KeyLines();
  lines.record(["a.b"], 1);
  lines.record(["a", "0"], 2);
  expect(lines.lineOf(["a", "b"])).toBeUndefined();
  expect(lines.lineOf(["a", 0])).toBeUndefined();
});

test("a repeated key keeps the last line where the last value counts, else the first", () => {
  const lines = new KeyLines();
  lines.record(["json"], 1);
  lines.record(["json"], 2);
  lines.recordFirst(["toml"], 1);
  lines.recordFirst(["toml"], 2);
  expect(lines.lineOf(["json"])).toBe(2);
  expect(lines.lineOf(["toml"])).toBe(1);
});

test("an offset lies on the line after as many line ends as stand before it", () => {
  const index = new LineIndex("a\nbc\r\n\nd");
  const lines = Array.from("a\nbc\r\n\nd", (_, offset) => index.lineAt(offset));
  expect(lines).toEqual([1, 1, 2, 2, 2, 2, 3, 4]);
});

test("the end of a text lies on its last line", () => {
  expect(new LineIndex("").lineAt(0)).toBe(1);
  expect(new LineIndex("a\n").lineAt(2)).toBe(2);
});
