import { expect, it } from "vitest";
import { decodeAttributes, encodeAttributes, type StoredAttributes } from "./stored-attributes.ts";

it.each<[string, StoredAttributes]>([
  ["nothing", { attributes: {}, traceHeader: null }],
  [
    "attributes of every type",
    {
      attributes: {
        s: { DataType: "String.label", StringValue: "ü" },
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
