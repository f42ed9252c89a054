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

/*
 * A contract: it is stored. A version, then fields one after the other: a tag and, each behind its length (u32, little
 * endian), the texts or bytes of that tag. So what is stored is hardly longer than what was sent, whatever characters and
 * bytes that has: a message of AWS's largest size must still fit into a row.
 */
const VERSION = 1;
/** Name, type, text. */
const TAG_TEXT = 1;
/** Name, type, bytes. */
const TAG_BINARY = 2;
const TAG_TRACE_HEADER = 3;
/** Type, topic, subscription, and a byte for a raw message or none. */
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

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The attributes area of a message's record; `undefined` where there is nothing to keep. */
export function encodeAttributes({
  attributes,
  traceHeader,
  notification,
}: StoredAttributes): Uint8Array | undefined {
  const fields = Object.entries(attributes).map(([name, value]) => fieldOf(name, value));
  if (traceHeader !== null) fields.push({ tag: TAG_TRACE_HEADER, parts: [encoder.encode(traceHeader)] });
  if (notification !== undefined) {
    const { type, topicArn, subscriptionArn, isRaw } = notification;
    const texts = [type, topicArn, subscriptionArn].map((text) => encoder.encode(text));
    fields.push({ tag: TAG_NOTIFICATION, parts: [...texts, new Uint8Array(isRaw ? 1 : 0)] });
  }
  return fields.length === 0 ? undefined : written(fields);
}

/** Throws RangeError on bytes that are none of ours. */
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

function fieldOf(name: string, { DataType = "", StringValue, BinaryValue }: AttributeValue): Field {
  const named = [encoder.encode(name), encoder.encode(DataType)];
  return BinaryValue === undefined
    ? { tag: TAG_TEXT, parts: [...named, encoder.encode(StringValue ?? "")] }
    : { tag: TAG_BINARY, parts: [...named, BinaryValue] };
}

function textsOf(parts: readonly Uint8Array[]): string[] {
  return parts.map((part) => decoder.decode(part));
}

function written(fields: readonly Field[]): Uint8Array {
  const lengths = fields.flatMap(({ parts }) => parts.map(({ byteLength }) => 4 + byteLength));
  const bytes = new Uint8Array(1 + fields.length + lengths.reduce((sum, length) => sum + length, 0));
  const view = new DataView(bytes.buffer);
  bytes[0] = VERSION;
  let at = 1;
  for (const { tag, parts } of fields) {
    bytes[at] = tag;
    at += 1;
    for (const part of parts) {
      view.setUint32(at, part.byteLength, true);
      bytes.set(part, at + 4);
      at += 4 + part.byteLength;
    }
  }
  return bytes;
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
