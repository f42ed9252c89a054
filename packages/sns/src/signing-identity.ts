import { sha256Hex, toBase64 } from "@sluice/aws";
import {
  bitString,
  derNull,
  explicit,
  integer,
  objectIdentifier,
  sequence,
  set,
  time,
  utf8String,
} from "./der.ts";

/** A key with its certificate, as plain data. The holder of the key can sign as this broker. */
export interface SigningIdentity {
  /** PKCS #8, base64. */
  readonly privateKeyPkcs8: string;
  /** X.509, self-signed; what receivers check signatures with. */
  readonly certificatePem: string;
}

const KEY_BITS = 2048;
/** Years that a certificate is valid; receivers that look at its dates would refuse it afterwards. */
const VALID_YEARS = 100;
const SERIAL_BYTES = 16;
/** Number of X.509's version 3, which are counted from 0. */
const VERSION_3 = 2;
/** sha256WithRSAEncryption. */
const SIGNATURE_ALGORITHM = sequence(objectIdentifier("1.2.840.113549.1.1.11"), derNull);
/** Hexadecimal digits in the file name of a certificate: SNS has 32, and some validators want as many. */
const CERTIFICATE_ID_DIGITS = 32;
const COMMON_NAME = "2.5.4.3";

/** Makes a new key and a certificate of it. It takes about a second. The directory keeps the result. */
export async function createSigningIdentity(nowMs: number): Promise<SigningIdentity> {
  const algorithm = {
    name: "RSASSA-PKCS1-v1_5",
    modulusLength: KEY_BITS,
    publicExponent: Uint8Array.of(1, 0, 1),
    hash: "SHA-256",
  };
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  // workerd's types have one result for all algorithms.
  if (!("privateKey" in keys)) throw new Error("generateKey has returned no pair of keys");
  const spki = (await crypto.subtle.exportKey("spki", keys.publicKey)) as ArrayBuffer;
  const pkcs8 = (await crypto.subtle.exportKey("pkcs8", keys.privateKey)) as ArrayBuffer;
  const content = certificateContent(new Uint8Array(spki), nowMs);
  const signature = await crypto.subtle.sign(algorithm, keys.privateKey, content);
  return {
    privateKeyPkcs8: toBase64(new Uint8Array(pkcs8)),
    certificatePem: pem(sequence(content, SIGNATURE_ALGORITHM, bitString(new Uint8Array(signature)))),
  };
}

/** `TBSCertificate` of RFC 5280, 4.1, without extensions. */
function certificateContent(subjectPublicKeyInfo: Uint8Array, nowMs: number): Uint8Array<ArrayBuffer> {
  const name = sequence(set(sequence(objectIdentifier(COMMON_NAME), utf8String("Sluice"))));
  const notBefore = new Date(nowMs);
  const notAfter = new Date(nowMs);
  notAfter.setUTCFullYear(notBefore.getUTCFullYear() + VALID_YEARS);
  const serial = crypto.getRandomValues(new Uint8Array(SERIAL_BYTES));
  // Top bits 01: the number is positive, and begins with no zero byte, which DER does not allow.
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const issuer = name;
  const subject = name;
  return sequence(
    explicit(0, integer(Uint8Array.of(VERSION_3))),
    integer(serial),
    SIGNATURE_ALGORITHM,
    issuer,
    sequence(time(notBefore), time(notAfter)),
    subject,
    subjectPublicKeyInfo,
  );
}

function pem(der: Uint8Array): string {
  const lines = toBase64(der).match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

/** Makes the file name that a certificate is served by. It has a hash of the certificate. */
export function certificateFileName({ certificatePem }: Pick<SigningIdentity, "certificatePem">): string {
  return `SimpleNotificationService-${sha256Hex(certificatePem).slice(0, CERTIFICATE_ID_DIGITS)}.pem`;
}
