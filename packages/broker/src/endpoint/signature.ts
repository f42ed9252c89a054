/**
 * Signs a request by https://www.standardwebhooks.com, so that receivers can verify it with a common library:
 * HMAC-SHA256 over `ID.TIMESTAMP.BODY`, in base64.
 *
 * @param secret for which `isSigningSecret` holds.
 * @returns the three headers.
 */
export async function signatureHeaders(
  secret: string,
  id: string,
  body: Uint8Array,
  nowMs: number,
): Promise<Readonly<Record<string, string>>> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const prefix = new TextEncoder().encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(prefix.byteLength + body.byteLength);
  signed.set(prefix);
  signed.set(body, prefix.byteLength);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", keyOf(secret), algorithm, false, ["sign"]);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, signed));
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${btoa(String.fromCharCode(...signature))}`,
  };
}

const BASE64_PREFIX = "whsec_";

/** Whether a text has a key: `whsec_` and the key in base64, or any other text, whose UTF-8 bytes are the key. */
export function isSigningSecret(text: string): boolean {
  try {
    return keyOf(text).byteLength > 0;
  } catch {
    return false;
  }
}

function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  if (!secret.startsWith(BASE64_PREFIX)) return Uint8Array.from(new TextEncoder().encode(secret));
  return Uint8Array.from(atob(secret.slice(BASE64_PREFIX.length)), (char) => char.charCodeAt(0));
}
