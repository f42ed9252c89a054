import { md5 } from "js-md5";

/** An attribute as senders give it. The type is `String`, `Number` or `Binary`, with a label of their own behind a dot. */
export interface AttributeValue {
  readonly DataType?: string;
  readonly StringValue?: string;
  readonly BinaryValue?: Uint8Array;
}

const STRING_MARK = 1;
const BINARY_MARK = 2;
const encoder = new TextEncoder();

/**
 * Digest of message attributes that SDKs compute and compare, in lower-case hex (spec sqs 5.4): names in the order of
 * their UTF-8 bytes, each name, type and value behind its length.
 */
export function attributesMd5(attributes: Readonly<Record<string, AttributeValue>>): string {
  const hash = md5.create();
  const field = (bytes: Uint8Array) => {
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, bytes.byteLength);
    hash.update(length).update(bytes);
  };
  const named = Object.entries(attributes).map(([name, value]) => ({ name: encoder.encode(name), value }));
  for (const { name, value } of named.sort((a, b) => compareBytes(a.name, b.name))) {
    const type = value.DataType ?? "";
    const isBinary = type.startsWith("Binary");
    field(name);
    field(encoder.encode(type));
    hash.update(Uint8Array.of(isBinary ? BINARY_MARK : STRING_MARK));
    field(isBinary ? (value.BinaryValue ?? new Uint8Array()) : encoder.encode(value.StringValue ?? ""));
  }
  return hash.hex();
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const difference = (a[i] as number) - (b[i] as number); // both are longer than i
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
