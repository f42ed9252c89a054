import { decodeAttributes, encodeAttributes, type StoredNotification } from "@sluice/aws";
import { describe, expect, it } from "vitest";
import {
  canBeDeadLetter,
  classOfStatus,
  deadLetterAttributes,
  deliveryHeaders,
  notificationOf,
} from "./delivery.ts";

const ID = "5f1c3c1e8f6e4c3c9a5d1f3a5b7c9d0e";
const NOTIFICATION: StoredNotification = {
  type: "Notification",
  topicArn: "arn:topic",
  subscriptionArn: "arn:subscription",
  isRaw: false,
};
const COMMON = {
  "x-amz-sns-message-id": "5f1c3c1e-8f6e-4c3c-9a5d-1f3a5b7c9d0e",
  "user-agent": "Amazon Simple Notification Service Agent",
  "accept-encoding": "gzip,deflate",
};

describe("headers (spec sns-delivery 8.1)", () => {
  it("a notification has SNS's headers", () => {
    const headers = {
      ...COMMON,
      "x-amz-sns-message-type": "Notification",
      "x-amz-sns-topic-arn": "arn:topic",
      "x-amz-sns-subscription-arn": "arn:subscription",
      "content-type": "application/json",
    };
    expect(deliveryHeaders(NOTIFICATION, ID, "application/json")).toEqual(headers);
    expect(deliveryHeaders({ ...NOTIFICATION, isRaw: true }, ID, "application/json")).toEqual({
      ...headers,
      "x-amz-sns-rawdelivery": "true",
    });
  });

  it("a confirmation is text/plain under any policy, and names no subscription before there is one", () => {
    const headers = {
      ...COMMON,
      "x-amz-sns-topic-arn": "arn:topic",
      "content-type": "text/plain; charset=UTF-8",
    };
    const confirmation = { ...NOTIFICATION, type: "SubscriptionConfirmation" } as const;
    expect(deliveryHeaders(confirmation, ID, "application/json")).toEqual({
      ...headers,
      "x-amz-sns-message-type": "SubscriptionConfirmation",
    });
    const farewell = { ...NOTIFICATION, type: "UnsubscribeConfirmation" } as const;
    expect(deliveryHeaders(farewell, ID, "application/json")).toEqual({
      ...headers,
      "x-amz-sns-message-type": "UnsubscribeConfirmation",
      "x-amz-sns-subscription-arn": "arn:subscription",
    });
  });

  it("a message that came from no topic has headers too", () => {
    expect(notificationOf(undefined)).toBeNull();
    expect(deliveryHeaders(null, ID, "text/csv")).toEqual({
      ...COMMON,
      "x-amz-sns-message-type": "Notification",
      "x-amz-sns-rawdelivery": "true",
      "content-type": "text/csv",
    });
  });
});

it.each([
  [100, "transient"],
  [199, "transient"],
  [200, "ok"],
  [299, "ok"],
  [300, "permanent"],
  [301, "permanent"],
  [400, "permanent"],
  [401, "permanent"],
  [404, "permanent"],
  [428, "permanent"],
  [429, "transient"],
  [430, "permanent"],
  [499, "permanent"],
  [500, "transient"],
  [503, "transient"],
  [599, "transient"],
])("status %i is %s (spec sns-delivery 6.2)", (status, expected) => {
  expect(classOfStatus(status)).toBe(expected);
});

describe("dead letters (spec sns-delivery 6.3)", () => {
  const attributes = { color: { DataType: "String", StringValue: "blue" } };

  it("dead letters have the publisher's attributes with raw delivery, and nothing of the notification", () => {
    const notification = { ...NOTIFICATION, isRaw: true };
    const bytes = deadLetterAttributes(encodeAttributes({ attributes, traceHeader: "t", notification }));
    expect(decodeAttributes(bytes)).toEqual({ attributes, traceHeader: null });
  });

  it("dead letters have no attributes without raw delivery", () => {
    const bytes = encodeAttributes({ attributes: {}, traceHeader: null, notification: NOTIFICATION });
    expect(deadLetterAttributes(bytes)).toBeUndefined();
    expect(deadLetterAttributes(undefined)).toBeUndefined();
  });

  it("dead letters are never confirmations", () => {
    const of = (type: StoredNotification["type"]) =>
      encodeAttributes({ attributes: {}, traceHeader: null, notification: { ...NOTIFICATION, type } });
    expect(canBeDeadLetter(of("Notification"))).toBe(true);
    expect(canBeDeadLetter(of("SubscriptionConfirmation"))).toBe(false);
    expect(canBeDeadLetter(of("UnsubscribeConfirmation"))).toBe(false);
    expect(canBeDeadLetter(undefined)).toBe(true);
  });
});
