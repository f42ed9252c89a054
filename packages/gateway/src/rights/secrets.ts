import { hexOf, type TokenSecret } from "@sluice/protocol";
import { sha256Of } from "./digest.ts";

/** Random bytes of a secret. */
const SECRET_BYTES = 32;

/** Random bytes of the id of an access key, and its beginning, which no key of AWS's has. */
const KEY_ID_BYTES = 7;
const KEY_ID_PREFIX = "SLUICE";

/** A secret that was made now. */
export interface NewSecret {
  /** Record of the secret that the broker keeps. */
  readonly kept: TokenSecret;
  /** Secret itself, which is shown once. */
  readonly secret: string;
}

/** Makes the secret of a token. */
export async function newSecret(kind: TokenSecret["kind"]): Promise<NewSecret> {
  const secret = base64UrlOf(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
  if (kind === "bearer") return { kept: { kind, sha256: await sha256Of(secret) }, secret };
  const digits = hexOf(crypto.getRandomValues(new Uint8Array(KEY_ID_BYTES))).toUpperCase();
  const accessKeyId = `${KEY_ID_PREFIX}${digits}`;
  return { kept: { kind, accessKeyId, secretAccessKey: secret }, secret };
}

function base64UrlOf(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}
