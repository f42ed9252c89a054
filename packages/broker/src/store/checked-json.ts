import { checksumOfText } from "./checksum.ts";

/** Makes the bytes of a note. A contract, since stored data depends on it: `[checksum, JSON]`. */
export function encodeChecked(value: unknown): Uint8Array {
  const text = JSON.stringify(value);
  return new TextEncoder().encode(JSON.stringify([checksumOfText(text), text]));
}

/** Reads a value from the bytes of its note. Throws if they are damaged. */
export function decodeChecked(bytes: Uint8Array): unknown {
  const [checksum, text] = JSON.parse(new TextDecoder().decode(bytes)) as [number, string];
  if (checksum !== checksumOfText(text)) throw new Error("the checksum does not fit");
  return JSON.parse(text);
}
