import { FieldWriter } from "./fields.ts";
import type { AttributeValue } from "./message-attributes.ts";

/** Data that SQS and SNS store beside a message's body. */
export interface StoredAttributes {
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly traceHeader: string | null;
  /** Data of a message of SNS besides its body; absent on all other messages. */
  readonly notification?: StoredNotification;
}

/**
 * Data for the headers of a request with a message of SNS (spec sns-delivery 8.1). The id in the headers is that of the
 * message.
 */
export interface StoredNotification {
  readonly type: "Notification" | "SubscriptionConfirmation" | "UnsubscribeConfirmation";
  readonly topicArn: string;
  readonly subscriptionArn: string;
  /** Whether the body is the message alone, without an envelope. */
  readonly isRaw: boolean;
}

/*
 * A contract: stored messages hold these bytes. Tags may be added; any other change needs a new version and a reader
 * for this one. A version, then fields one after the other: a tag and, each behind its length (u32, little endian), the
 * texts or bytes of that tag. So the stored bytes are hardly longer than those that were sent: a message of AWS's
 * largest size must still fit into a row.
 */
const VERSION = 1;
/** Name, type, text. */
const TAG_TEXT = 1;
/** Name, type, bytes. */
const TAG_BINARY = 2;
const TAG_TRACE_HEADER = 3;
/** Type, topic, subscription, and one byte for a raw message, no byte for another. */
const TAG_NOTIFICATION = 4;
const PARTS: Readonly<Record<number, number>> = {
  [TAG_TEXT]: 3,
  [TAG_BINARY]: 3,
  [TAG_TRACE_HEADER]: 1,
  [TAG_NOTIFICATION]: 4,
};

interface Field {
  readonly tag: number;
  readonly parts: readonly Uint8Array[];
}

// A byte order mark is a part of a value.
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

/** Encodes the attributes area of a message's record; `undefined` where there is nothing to keep. */
export function encodeAttributes({
  attributes,
  traceHeader,
  notification,
}: StoredAttributes): Uint8Array | undefined {
  const fields = new FieldWriter("little endian");
  fields.byte(VERSION);
  for (const [name, attribute] of Object.entries(attributes)) writeAttribute(fields, name, attribute);
  if (traceHeader !== null) {
    fields.byte(TAG_TRACE_HEADER);
    fields.text(traceHeader);
  }
  if (notification !== undefined) writeNotification(fields, notification);
  const { written } = fields;
  return written.byteLength === 1 ? undefined : written;
}

/** Reads the attributes area of a message's record. Throws RangeError on other bytes. */
export function decodeAttributes(bytes: Uint8Array | undefined): StoredAttributes {
  const attributes: Record<string, AttributeValue> = Object.create(null);
  let traceHeader: string | null = null;
  let notification: StoredNotification | undefined;
  for (const { tag, parts } of bytes === undefined ? [] : fieldsIn(bytes)) {
    const [first = "", second = "", third = ""] =
      tag === TAG_BINARY ? textsOf(parts.slice(0, 2)) : textsOf(parts);
    if (tag === TAG_TEXT) attributes[first] = { DataType: second, StringValue: third };
    else if (tag === TAG_BINARY)
      attributes[first] = { DataType: second, BinaryValue: (parts[2] as Uint8Array).slice() }; // of 3
    else if (tag === TAG_TRACE_HEADER) traceHeader = first;
    else {
      const type = first as StoredNotification["type"];
      notification = { type, topicArn: second, subscriptionArn: third, isRaw: parts[3]?.byteLength === 1 };
    }
  }
  const decoded = { attributes: { ...attributes }, traceHeader };
  return notification === undefined ? decoded : { ...decoded, notification };
}

function writeAttribute(
  fields: FieldWriter,
  name: string,
  { DataType = "", StringValue = "", BinaryValue }: AttributeValue,
): void {
  fields.byte(BinaryValue === undefined ? TAG_TEXT : TAG_BINARY);
  fields.text(name);
  fields.text(DataType);
  if (BinaryValue === undefined) fields.text(StringValue);
  else fields.bytes(BinaryValue);
}

function writeNotification(
  fields: FieldWriter,
  { type, topicArn, subscriptionArn, isRaw }: StoredNotification,
): void {
  fields.byte(TAG_NOTIFICATION);
  for (const text of [type, topicArn, subscriptionArn]) fields.text(text);
  fields.bytes(new Uint8Array(isRaw ? 1 : 0));
}

function textsOf(parts: readonly Uint8Array[]): string[] {
  return parts.map((part) => decoder.decode(part));
}

function fieldsIn(bytes: Uint8Array): Field[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes[0] !== VERSION) throw new RangeError(`stored attributes of version ${bytes[0]}`);
  const fields: Field[] = [];
  let at = 1;
  while (at < bytes.byteLength) {
    const tag = view.getUint8(at);
    at += 1;
    const count = PARTS[tag];
    if (count === undefined) throw new RangeError(`stored attributes have a field of kind ${tag}`);
    const parts: Uint8Array[] = [];
    for (let i = 0; i < count; i++) {
      const from = at + 4;
      const to = from + view.getUint32(at, true);
      if (to > bytes.byteLength) throw new RangeError("stored attributes are cut off");
      parts.push(bytes.subarray(from, to));
      at = to;
    }
    fields.push({ tag, parts });
  }
  return fields;
}
