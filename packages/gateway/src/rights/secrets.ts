import type { TokenSecret } from "@sluice/protocol";
import { sha256Of } from "./digest.ts";

/** Random bytes of a secret. */
const SECRET_BYTES = 32;

/** A secret that was made now. */
export interface NewSecret {
  /** What is kept of it. */
  readonly kept: TokenSecret;
  /** What its owner is told, once. */
  readonly shown: { readonly secret: string };
}

/** Makes the secret of a token. */
export async function newSecret(): Promise<NewSecret> {
  const secret = base64UrlOf(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
  return { kept: { kind: "bearer", sha256: await sha256Of(secret) }, shown: { secret } };
}

function base64UrlOf(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}
