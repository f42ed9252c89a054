/** Bytes of an id. */
const ID_BYTES = 16;
/** Ids that are drawn at a time: to draw costs more than to use one. */
const IDS_DRAWN = 256;

let drawn = new Uint8Array();
let used = 0;

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** A message's id as SQS shows it: the 32 digits of the store as a UUID. */
export function uuidOf(hex: string): string {
  const part = (from: number, to: number) => hex.slice(from, to);
  return `${part(0, 8)}-${part(8, 12)}-${part(12, 16)}-${part(16, 20)}-${part(20, 32)}`;
}

/** The 32 digits of an id. */
export function hexOf(id: Uint8Array): string {
  let hex = "";
  for (const byte of id) hex += HEX[byte];
  return hex;
}

/** A new id, with the marks of a random UUID. */
export function newMessageId(): Uint8Array {
  if (used === drawn.byteLength) {
    drawn = crypto.getRandomValues(new Uint8Array(IDS_DRAWN * ID_BYTES));
    used = 0;
  }
  const bytes = drawn.subarray(used, used + ID_BYTES);
  used += ID_BYTES;
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes;
}
