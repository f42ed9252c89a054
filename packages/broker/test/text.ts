/** Writes what a call of an object is given or answers, as JSON with bytes in it. */
export function toText(value: unknown): string {
  return JSON.stringify(value, (_, part) => (part instanceof Uint8Array ? { $bytes: base64Of(part) } : part));
}

/** Reads what `toText` wrote. */
export function fromText(text: string): unknown {
  return JSON.parse(text, (_, part) => (typeof part?.$bytes === "string" ? bytesOf(part.$bytes) : part));
}

/** As much as a function takes for arguments. */
const PIECE_BYTES = 8_192;

/** Encodes bytes as base64 with functions that Node.js and workerd both know. */
function base64Of(bytes: Uint8Array): string {
  let latin1 = "";
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    latin1 += String.fromCharCode(...bytes.subarray(from, from + PIECE_BYTES));
  }
  return btoa(latin1);
}

function bytesOf(base64: string): Uint8Array {
  const latin1 = atob(base64);
  const bytes = new Uint8Array(latin1.length);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = latin1.charCodeAt(i);
  return bytes;
}
