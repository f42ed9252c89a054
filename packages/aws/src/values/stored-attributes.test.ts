import { expect, it } from "vitest";
import { decodeAttributes, encodeAttributes, type StoredAttributes } from "./stored-attributes.ts";

it.each<[string, StoredAttributes]>([
  ["nothing", { attributes: {}, traceHeader: null }],
  [
    "attributes of every type",
    {
      attributes: {
        s: { DataType: "String.label", StringValue: "ü" },
        "byte order mark": { DataType: "String", StringValue: "\ufeffx" },
        b: { DataType: "Binary", BinaryValue: Uint8Array.of(0, 255) },
      },
      traceHeader: null,
    },
  ],
  ["a trace header", { attributes: {}, traceHeader: "Root=1" }],
  [
    "a notification",
    {
      attributes: {},
      traceHeader: null,
      notification: { type: "Notification", topicArn: "t", subscriptionArn: "s", isRaw: true },
    },
  ],
  [
    "a confirmation",
    {
      attributes: {},
      traceHeader: null,
      notification: { type: "SubscriptionConfirmation", topicArn: "t", subscriptionArn: "s", isRaw: false },
    },
  ],
])("%s is read back as it was stored", (_what, stored) => {
  expect(decodeAttributes(encodeAttributes(stored))).toEqual(stored);
});

it("takes no byte where there is nothing to keep", () => {
  expect(encodeAttributes({ attributes: {}, traceHeader: null })).toBeUndefined();
});

it("has an attribute called like what every object has", () => {
  const attributes = JSON.parse('{"__proto__": {"DataType": "String", "StringValue": "x"}}');
  const { attributes: decoded } = decodeAttributes(encodeAttributes({ attributes, traceHeader: null }));
  expect(Object.entries(decoded)).toEqual([["__proto__", { DataType: "String", StringValue: "x" }]]);
});

it("is hardly longer than what was sent, whatever that is", () => {
  for (const value of [
    { DataType: "String", StringValue: '"'.repeat(1_000) },
    { DataType: "Binary", BinaryValue: new Uint8Array(1_000) },
  ]) {
    const bytes = encodeAttributes({ attributes: { name: value }, traceHeader: null });
    expect(bytes?.byteLength).toBe(2 + 4 + "name".length + 4 + value.DataType.length + 4 + 1_000);
  }
});

it.each([
  [[], "version undefined"],
  [[2], "version 2"],
  [[1, 9], "a field of kind 9"],
  [[1, 3, 2, 0, 0, 0, 65], "cut off"],
])("throws on bytes %j that are none of ours", (bytes, text) => {
  expect(() => decodeAttributes(Uint8Array.from(bytes))).toThrow(text);
});
