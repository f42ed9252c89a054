/** Decodes a base64 text, with or without padding; `null` for any other text. */
export function fromBase64(text: string): Uint8Array | null {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  try {
    const binary = atob(text);
    return Uint8Array.from(binary, (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
}

/** Bytes that become characters by one call: the length of an argument list is limited. */
const BYTES_OF_CALL_MAX = 32_768;

export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += BYTES_OF_CALL_MAX) {
    binary += String.fromCharCode(...bytes.subarray(at, at + BYTES_OF_CALL_MAX));
  }
  return btoa(binary);
}
