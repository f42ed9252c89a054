/**
 * The few values of ASN.1 that a certificate is made of, in DER (X.690). A library for all of them is a ninth of the
 * broker, and this is all that it would be used for.
 */

const INTEGER = 0x02;
const BIT_STRING = 0x03;
const NULL = 0x05;
const OBJECT_IDENTIFIER = 0x06;
const UTF8_STRING = 0x0c;
const GENERALIZED_TIME = 0x18;
const UTC_TIME = 0x17;
const SEQUENCE = 0x30;
const SET = 0x31;
/** Context-specific, constructed. */
const EXPLICIT = 0xa0;
/** The first year that a UTCTime cannot name (RFC 5280, 4.1.2.5). */
const GENERALIZED_FROM_YEAR = 2050;

export const derNull = value(NULL, new Uint8Array());

export function sequence(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return value(SEQUENCE, joined(parts));
}

export function set(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return value(SET, joined(parts));
}

/** Puts a value under the tag [number]. */
export function explicit(number: number, inner: Uint8Array): Uint8Array<ArrayBuffer> {
  return value(EXPLICIT + number, inner);
}

/** @param bytes big endian, two's complement, as short as it can be. */
export function integer(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return value(INTEGER, bytes);
}

/** Whole bytes. */
export function bitString(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return value(BIT_STRING, joined([Uint8Array.of(0), bytes]));
}

export function utf8String(text: string): Uint8Array<ArrayBuffer> {
  return value(UTF8_STRING, new TextEncoder().encode(text));
}

/** @param dotted `1.2.840.113549`; the first number is 0, 1 or 2. */
export function objectIdentifier(dotted: string): Uint8Array<ArrayBuffer> {
  const [first = 0, second = 0, ...others] = dotted.split(".").map(Number);
  return value(OBJECT_IDENTIFIER, Uint8Array.from([40 * first + second, ...others].flatMap(base128)));
}

/** To the second, as certificates have it. */
export function time(date: Date): Uint8Array<ArrayBuffer> {
  const digits = `${date.toISOString().replace(/\D/g, "").slice(0, 14)}Z`;
  const isLong = date.getUTCFullYear() >= GENERALIZED_FROM_YEAR;
  const text = isLong ? digits : digits.slice(2);
  return value(isLong ? GENERALIZED_TIME : UTC_TIME, new TextEncoder().encode(text));
}

/** Seven bits a byte, the high bit set on all but the last. */
function base128(number: number): number[] {
  const bytes = [number & 0x7f];
  for (let rest = number >>> 7; rest > 0; rest >>>= 7) bytes.unshift(0x80 | (rest & 0x7f));
  return bytes;
}

function value(tag: number, content: Uint8Array): Uint8Array<ArrayBuffer> {
  return joined([Uint8Array.of(tag, ...lengthOf(content.byteLength)), content]);
}

function lengthOf(bytes: number): number[] {
  if (bytes < 0x80) return [bytes];
  const digits: number[] = [];
  for (let rest = bytes; rest > 0; rest >>>= 8) digits.unshift(rest & 0xff);
  return [0x80 | digits.length, ...digits];
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}
