import { fromBase64, toBase64 } from "./base64.ts";
import type { AttributeValue } from "./message-attributes.ts";

/** What SQS and SNS keep beside a message's body. */
export interface StoredAttributes {
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly traceHeader: string | null;
  /** What a message of SNS says besides its body; absent on all others. */
  readonly notification?: StoredNotification;
}

/** What goes into the headers of a request with a message of SNS (spec sns-delivery 8.1). Its id is that of the message. */
export interface StoredNotification {
  readonly type: "Notification" | "SubscriptionConfirmation" | "UnsubscribeConfirmation";
  readonly topicArn: string;
  readonly subscriptionArn: string;
  /** Whether the body is the message alone, without an envelope. */
  readonly isRaw: boolean;
}

/**
 * A contract: it is stored, as JSON. `a`: `[type, text]`, or `[type, base64, 1]` for bytes; `t`: trace header; `n`: type,
 * topic, subscription, and 1 for a raw message.
 */
type Stored = {
  readonly a?: Readonly<Record<string, readonly [type: string, value: string, isBinary?: 1]>>;
  readonly t?: string;
  readonly n?: readonly [type: StoredNotification["type"], topic: string, subscription: string, isRaw?: 1];
};

/** The attributes area of a message's record; `undefined` where there is nothing to keep. */
export function encodeAttributes({
  attributes,
  traceHeader,
  notification,
}: StoredAttributes): Uint8Array | undefined {
  const entries = Object.entries(attributes);
  if (entries.length === 0 && traceHeader === null && notification === undefined) return undefined;
  const a = Object.fromEntries(
    entries.map(([name, { DataType = "", StringValue, BinaryValue }]) => [
      name,
      BinaryValue === undefined ? [DataType, StringValue ?? ""] : [DataType, toBase64(BinaryValue), 1],
    ]),
  );
  const stored = {
    ...(entries.length === 0 ? {} : { a }),
    ...(traceHeader === null ? {} : { t: traceHeader }),
    ...(notification === undefined ? {} : { n: notificationFields(notification) }),
  };
  return new TextEncoder().encode(JSON.stringify(stored));
}

export function decodeAttributes(bytes: Uint8Array | undefined): StoredAttributes {
  if (bytes === undefined) return { attributes: {}, traceHeader: null };
  const { a = {}, t = null, n } = JSON.parse(new TextDecoder().decode(bytes)) as Stored;
  const attributes = Object.entries(a).map(
    ([name, [DataType, value, isBinary]]): [string, AttributeValue] => [
      name,
      isBinary === 1
        ? { DataType, BinaryValue: fromBase64(value) ?? new Uint8Array() }
        : { DataType, StringValue: value },
    ],
  );
  const decoded = { attributes: Object.fromEntries(attributes), traceHeader: t };
  if (n === undefined) return decoded;
  const [type, topicArn, subscriptionArn, isRaw] = n;
  return { ...decoded, notification: { type, topicArn, subscriptionArn, isRaw: isRaw === 1 } };
}

function notificationFields({ type, topicArn, subscriptionArn, isRaw }: StoredNotification): Stored["n"] {
  return isRaw ? [type, topicArn, subscriptionArn, 1] : [type, topicArn, subscriptionArn];
}
