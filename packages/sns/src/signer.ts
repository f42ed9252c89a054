import { fromBase64, toBase64 } from "@sluice/aws";
import { type Envelope, type SignatureVersion, stringToSign } from "./envelope.ts";
import { certificateFileName, type SigningIdentity } from "./signing-identity.ts";

const HASHES: Readonly<Record<SignatureVersion, string>> = { "1": "SHA-1", "2": "SHA-256" };

/**
 * Signatures that are cached. The messages to a topic's subscriptions differ only in members that are not signed, and
 * signing takes most of the time to make a message. A batch has ten messages, which can have two texts each.
 */
const SIGNATURES_KEPT = 20;

/** Signs messages as SNS does (spec sns-delivery 8.3): RSA with PKCS #1 v1.5 padding. */
export interface Signer {
  /** Last part of the path of the certificate. */
  readonly certificateFileName: string;
  /** Makes the signature, in base64. */
  sign(envelope: Envelope, version: SignatureVersion): Promise<string>;
}

/** @throws Error when the key of the identity is damaged. */
export async function openSigner(identity: SigningIdentity): Promise<Signer> {
  const pkcs8 = fromBase64(identity.privateKeyPkcs8);
  if (pkcs8 === null) throw new Error("the private key is no base64");
  const keyOf = (version: SignatureVersion) => {
    const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: HASHES[version] };
    return crypto.subtle.importKey("pkcs8", pkcs8, algorithm, false, ["sign"]);
  };
  const keys = { "1": await keyOf("1"), "2": await keyOf("2") };
  const recent = new Map<string, Promise<string>>();

  async function signatureOf(text: string, version: SignatureVersion): Promise<string> {
    const bytes = new TextEncoder().encode(text);
    return toBase64(new Uint8Array(await crypto.subtle.sign("RSASSA-PKCS1-v1_5", keys[version], bytes)));
  }

  return {
    certificateFileName: certificateFileName(identity),
    sign(envelope, version) {
      const text = stringToSign(envelope);
      const key = `${version}\n${text}`;
      const signature = recent.get(key) ?? signatureOf(text, version);
      // The least recently used one is the first.
      recent.delete(key);
      recent.set(key, signature);
      const [oldest] = recent.keys();
      if (recent.size > SIGNATURES_KEPT && oldest !== undefined) recent.delete(oldest);
      return signature;
    },
  };
}
