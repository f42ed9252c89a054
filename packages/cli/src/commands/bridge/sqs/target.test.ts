import { expect, it } from "vitest";
import { leasedMessage } from "../../../../test/leased-message.ts";
import { reasonToStay } from "./target.ts";

it.each([
  [{ text: "two\r\nlines\t\u{1f4a1} \ufffd" }, null],
  [{ contentType: "json", text: "{}" }, null],
  [{ text: "" }, "SQS takes no empty body"],
  [{ text: "a\u0000" }, "SQS does not take a character in them"],
  [{ text: "a\uffff" }, "SQS does not take a character in them"],
  [{ text: undefined, base64: "/w==" }, "SQS takes text alone"],
  [{ contentType: "v8", text: undefined, base64: "/w8=" }, "SQS takes text alone"],
  [{ contentType: "bytes", text: "ASCII all the same" }, "SQS takes text alone"],
])("a message with %j goes to SQS, or stays: %s", (changes, reason) => {
  expect(reasonToStay(leasedMessage(changes))).toBe(reason);
});
