import { HYPHEN, MESSAGE_ID_BYTES, UUID_LENGTH, UUID_PLACES } from "@sluice/protocol";

/** UUIDs that are made at a time. The text of all of them is kept as long as one of them is. */
const POOL = 64;

/** The digits of each byte. */
const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const HIGH = Uint8Array.from(DIGITS, (digits) => digits.charCodeAt(0));
const LOW = Uint8Array.from(DIGITS, (digits) => digits.charCodeAt(1));

/** A random UUID, as text and in bytes. */
export interface NewId {
  readonly text: string;
  /** Its bytes are `MESSAGE_ID_BYTES` of these from `from` on. */
  readonly bytes: Uint8Array;
  readonly from: number;
}

const codes = new Uint8Array(POOL * UUID_LENGTH).fill(HYPHEN);
const decoder = new TextDecoder();

let bytes = new Uint8Array();
let texts = "";
let next = POOL;

/**
 * A random UUID, as `crypto.randomUUID` makes it. That of Node.js puts each together of 20 parts, and who reads it first has them joined:
 * of what a message in a batch costs, a twentieth.
 */
export function randomUuid(): string {
  if (next === POOL) fill();
  const from = next * UUID_LENGTH;
  next += 1;
  return texts.slice(from, from + UUID_LENGTH);
}

/** The same for who writes its bytes, too: to read them out of the text takes a thousand instructions. */
export function randomId(): NewId {
  const text = randomUuid();
  return { text, bytes, from: (next - 1) * MESSAGE_ID_BYTES };
}

/** Each time bytes of their own: nobody knows when those of the ids before are read. */
function fill(): void {
  bytes = crypto.getRandomValues(new Uint8Array(POOL * MESSAGE_ID_BYTES));
  for (let i = 0; i < POOL; i++) writeUuid(i * MESSAGE_ID_BYTES, i * UUID_LENGTH);
  texts = decoder.decode(codes);
  next = 0;
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
