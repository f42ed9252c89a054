import { checksumOfText } from "./checksum.ts";

/** Makes the stored text of a value. A contract, since stored data depends on it: `[checksum, JSON]`. */
export function checkedText(value: unknown): string {
  const text = JSON.stringify(value);
  return JSON.stringify([checksumOfText(text), text]);
}

/** Reads a value from its stored text. Throws if that is damaged. */
export function readChecked(stored: string): unknown {
  const [checksum, text] = JSON.parse(stored) as [number, string];
  if (checksum !== checksumOfText(text)) throw new Error("the checksum does not fit");
  return JSON.parse(text);
}

/** Makes the bytes of a note. */
export function encodeChecked(value: unknown): Uint8Array {
  return new TextEncoder().encode(checkedText(value));
}

/** Reads a value from the bytes of its note. Throws if they are damaged. */
export function decodeChecked(bytes: Uint8Array): unknown {
  return readChecked(new TextDecoder().decode(bytes));
}
