import { fromBase64, toBase64 } from "./base64.ts";
import type { AttributeValue } from "./message-attributes.ts";

/** What SQS, and SNS when it sends to a queue, keep beside a message's body. */
export interface StoredAttributes {
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly traceHeader: string | null;
}

/** A contract: it is stored, as JSON. `[type, text]`, or `[type, base64, 1]` for bytes. */
type Stored = {
  readonly a?: Readonly<Record<string, readonly [type: string, value: string, isBinary?: 1]>>;
  readonly t?: string;
};

/** The attributes area of a message's record; `undefined` where there is nothing to keep. */
export function encodeAttributes({ attributes, traceHeader }: StoredAttributes): Uint8Array | undefined {
  const entries = Object.entries(attributes);
  if (entries.length === 0 && traceHeader === null) return undefined;
  const a = Object.fromEntries(
    entries.map(([name, { DataType = "", StringValue, BinaryValue }]) => [
      name,
      BinaryValue === undefined ? [DataType, StringValue ?? ""] : [DataType, toBase64(BinaryValue), 1],
    ]),
  );
  const stored = {
    ...(entries.length === 0 ? {} : { a }),
    ...(traceHeader === null ? {} : { t: traceHeader }),
  };
  return new TextEncoder().encode(JSON.stringify(stored));
}

export function decodeAttributes(bytes: Uint8Array | undefined): StoredAttributes {
  if (bytes === undefined) return { attributes: {}, traceHeader: null };
  const { a = {}, t = null } = JSON.parse(new TextDecoder().decode(bytes)) as Stored;
  const attributes = Object.entries(a).map(
    ([name, [DataType, value, isBinary]]): [string, AttributeValue] => [
      name,
      isBinary === 1
        ? { DataType, BinaryValue: fromBase64(value) ?? new Uint8Array() }
        : { DataType, StringValue: value },
    ],
  );
  return { attributes: Object.fromEntries(attributes), traceHeader: t };
}
