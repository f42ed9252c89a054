import { decodeAttributes, encodeAttributes, type StoredNotification, uuidOf } from "@sluice/aws";

/** User agent of a request with a message of SNS (spec sns-delivery 8.1). */
const USER_AGENT = "Amazon Simple Notification Service Agent";
/** Content type of confirmations, which no policy changes. */
const CONFIRMATION_CONTENT_TYPE = "text/plain; charset=UTF-8";
const TOO_MANY_REQUESTS = 429;

/** Reads the notification in the attributes of a stored message; `null` for a message that came from no topic. */
export function notificationOf(attributes: Uint8Array | undefined): StoredNotification | null {
  return decodeAttributes(attributes).notification ?? null;
}

/**
 * Makes the headers of the request with a message (spec sns-delivery 8.1).
 *
 * @param notification `null` for a message that came from no topic.
 * @param messageId 32 hexadecimal digits; the same in every attempt.
 * @param contentType content type of notifications, by the subscription's policy.
 */
export function deliveryHeaders(
  notification: StoredNotification | null,
  messageId: string,
  contentType: string,
): Readonly<Record<string, string>> {
  const type = notification?.type ?? "Notification";
  const isNotification = type === "Notification";
  return {
    "x-amz-sns-message-type": type,
    "x-amz-sns-message-id": uuidOf(messageId),
    ...(notification === null ? {} : { "x-amz-sns-topic-arn": notification.topicArn }),
    // An unconfirmed subscription is not named.
    ...(notification === null || type === "SubscriptionConfirmation"
      ? {}
      : { "x-amz-sns-subscription-arn": notification.subscriptionArn }),
    ...(isNotification && notification?.isRaw !== false ? { "x-amz-sns-rawdelivery": "true" } : {}),
    "content-type": isNotification ? contentType : CONFIRMATION_CONTENT_TYPE,
    "user-agent": USER_AGENT,
    "accept-encoding": "gzip,deflate",
  };
}

/**
 * Classifies the status of an answer (spec sns-delivery 6.2): `transient` is tried again by the policy, `permanent`
 * never.
 *
 * Transient statuses are 429, those from 500 on, and 1xx, which is no final answer. Redirects are not followed.
 */
export function classOfStatus(status: number): "ok" | "transient" | "permanent" {
  if (status >= 200 && status <= 299) return "ok";
  return status === TOO_MANY_REQUESTS || status >= 500 || status < 200 ? "transient" : "permanent";
}

/**
 * Returns the attributes for a message that goes to the dead-letter queue of its subscription (spec sns-delivery 6.3):
 * with raw delivery those of the publisher; none without it, since they are in the envelope. `undefined` for none.
 */
export function deadLetterAttributes(attributes: Uint8Array | undefined): Uint8Array | undefined {
  return encodeAttributes({ attributes: decodeAttributes(attributes).attributes, traceHeader: null });
}

/**
 * Whether a message that cannot be delivered goes to a dead-letter queue: confirmations never do (spec sns-delivery
 * 6.3).
 */
export function canBeDeadLetter(attributes: Uint8Array | undefined): boolean {
  return (notificationOf(attributes)?.type ?? "Notification") === "Notification";
}
