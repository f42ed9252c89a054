import { expect, it } from "vitest";
import { leasedMessage } from "../../../test/leased-message.ts";
import { inBatches } from "./batches.ts";
import { messageBytes } from "./target.ts";

it.each([
  [{ text: "é" }, 2],
  [{ text: undefined, base64: "AAAA" }, 3],
  [{ text: "x", attributes: { é: { type: "String", value: "éé" } } }, 13],
  [
    {
      text: "x",
      attributes: { a: { type: "Binary.gif", value: "AAAA" }, b: { type: "Number", value: "1" } },
    },
    23,
  ],
])("a message with %j has %i bytes", (changes, bytes) => {
  expect(messageBytes(leasedMessage(changes))).toBe(bytes);
});

it("messages with large attributes go in more batches", () => {
  const large = leasedMessage({ attributes: { a: { type: "String", value: "x".repeat(100_000) } } });
  const batches = [...inBatches(Array(5).fill(large), messageBytes, { messages: 10, size: 250_000 })];
  expect(batches.map(({ length }) => length)).toEqual([2, 2, 1]);
});
