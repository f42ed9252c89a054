import { hexOf } from "@sluice/protocol";

/** Computes the SHA-256 of a text, as hexadecimal digits. */
export async function sha256Of(text: string): Promise<string> {
  return hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}
