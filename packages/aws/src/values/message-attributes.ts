import { md5Hex } from "./digest.ts";
import { FieldWriter } from "./fields.ts";

/**
 * An attribute as senders give it. The type is `String`, `Number` or `Binary`, with a label of their own behind a dot.
 */
export interface AttributeValue {
  readonly DataType?: string;
  readonly StringValue?: string;
  readonly BinaryValue?: Uint8Array;
}

/** Most digits of a number, without zeros before them (spec sqs 5.3). */
export const NUMBER_DIGITS_MAX = 38;

/** Powers of ten of the least and of the greatest number besides zero (spec sqs 5.3). */
export const NUMBER_POWER_MIN = -128;
export const NUMBER_POWER_MAX = 126;

/** Whether a text can be the value of an attribute of type `Number`. */
export function isNumberText(text: string): boolean {
  const parts = /^[+-]?(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,3}))?$/.exec(text.trim());
  if (parts === null || !/\d/.test(text)) return false;
  const [, whole = "", fraction = "", exponent = "0"] = parts;
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  if (digits === "") return true;
  // The power of ten of the first digit.
  const power = digits.length - 1 - fraction.length + Number(exponent);
  const isWithin = power >= NUMBER_POWER_MIN && power < NUMBER_POWER_MAX;
  const isGreatest = power === NUMBER_POWER_MAX && /^10*$/.test(digits);
  return digits.length <= NUMBER_DIGITS_MAX && (isWithin || isGreatest);
}

const encoder = new TextEncoder();

export function utf8Bytes(text: string): number {
  return encoder.encode(text).byteLength;
}

/**
 * Computes the bytes of attributes in the size of a message: names, types and values.
 *
 * @param bytesOf returns the bytes of a text, or a bound of them. Default: the bytes of its UTF-8.
 */
export function attributesBytes(
  attributes: Readonly<Record<string, AttributeValue>>,
  bytesOf = utf8Bytes,
): number {
  let bytes = 0;
  for (const name of Object.keys(attributes)) {
    const { DataType = "", StringValue = "", BinaryValue } = attributes[name] ?? {};
    bytes += bytesOf(name) + bytesOf(DataType) + (BinaryValue?.byteLength ?? bytesOf(StringValue));
  }
  return bytes;
}

const STRING_MARK = 1;
const BINARY_MARK = 2;
const NO_BYTES = new Uint8Array();

/**
 * Computes the digest of message attributes that SDKs compare, in lower-case hex (spec sqs 5.4): names in the order of
 * their UTF-8 bytes, each name, type and value behind its length.
 */
export function attributesMd5(attributes: Readonly<Record<string, AttributeValue>>): string {
  const fields = new FieldWriter("big endian");
  for (const name of Object.keys(attributes).sort(compareUtf8)) {
    const { DataType = "", StringValue = "", BinaryValue = NO_BYTES } = attributes[name] ?? {};
    fields.text(name);
    fields.text(DataType);
    if (DataType.startsWith("Binary")) {
      fields.byte(BINARY_MARK);
      fields.bytes(BinaryValue);
    } else {
      fields.byte(STRING_MARK);
      fields.text(StringValue);
    }
  }
  return md5Hex(fields.written);
}

/** First half of surrogate pairs, whose characters come behind all others. */
const SURROGATES_FROM = 0xd800;
const SURROGATES_TO = 0xdfff;

/** Compares texts by the bytes of their UTF-8: by their units of UTF-16, with surrogate pairs last. */
function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [unitOfA, unitOfB] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (unitOfA !== unitOfB) return rankOf(unitOfA) - rankOf(unitOfB);
  }
  return a.length - b.length;
}

function rankOf(unit: number): number {
  return unit >= SURROGATES_FROM && unit <= SURROGATES_TO ? 0x10000 + unit : unit;
}
