import { HYPHEN, MESSAGE_ID_BYTES, UUID_LENGTH, UUID_PLACES } from "@sluice/protocol";

/** UUIDs that are made at a time. The text of all of them is kept as long as one of them is. */
const POOL = 64;

/** The digits of each byte. */
const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const HIGH = Uint8Array.from(DIGITS, (digits) => digits.charCodeAt(0));
const LOW = Uint8Array.from(DIGITS, (digits) => digits.charCodeAt(1));

const bytes = new Uint8Array(POOL * MESSAGE_ID_BYTES);
const codes = new Uint8Array(POOL * UUID_LENGTH).fill(HYPHEN);
const decoder = new TextDecoder();

let texts = "";
let next = 0;

/**
 * A random UUID, as `crypto.randomUUID` makes it. That of Node.js puts each together of 20 parts, and who reads it first has them joined:
 * of what a message in a batch costs, a twentieth.
 */
export function randomUuid(): string {
  if (next === texts.length) {
    texts = poolOf();
    next = 0;
  }
  next += UUID_LENGTH;
  return texts.slice(next - UUID_LENGTH, next);
}

function poolOf(): string {
  crypto.getRandomValues(bytes);
  for (let i = 0; i < POOL; i++) writeUuid(i * MESSAGE_ID_BYTES, i * UUID_LENGTH);
  return decoder.decode(codes);
}

function writeUuid(from: number, to: number): void {
  // Version 4, and the variant that has versions (RFC 9562, 5.4).
  bytes[from + 6] = ((bytes[from + 6] as number) & 0x0f) | 0x40;
  bytes[from + 8] = ((bytes[from + 8] as number) & 0x3f) | 0x80;
  for (let i = 0; i < MESSAGE_ID_BYTES; i++) {
    const byte = bytes[from + i] as number; // i < length, as all below
    const at = to + (UUID_PLACES[i] as number);
    codes[at] = HIGH[byte] as number;
    codes[at + 1] = LOW[byte] as number;
  }
}
