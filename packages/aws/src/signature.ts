import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { AwsError, COMMON_ERRORS } from "./aws-error.ts";
import {
  ALGORITHM,
  type Credential,
  credentialOf,
  type RequestHeaders,
  type RequestUrl,
  type SignedRequest,
} from "./credential.ts";
import { sha256Hex } from "./digest.ts";

/** Furthest that the clock of who signs may be off, in ms (spec sqs 1.5). */
export const CLOCK_SKEW_MS_MAX = 15 * 60_000;

const encoder = new TextEncoder();

/**
 * Checks a Signature Version 4, in the header or presigned, and answers with whose it is. Throws `AwsError`:
 * `MissingAuthenticationToken`, `InvalidClientTokenId` for a key that nobody has, `SignatureDoesNotMatch` also for one
 * that is too old or too new, `RequestExpired` for a presigned URL that has had its time.
 *
 * @param secretOf The secret of an access key, `undefined` for an unknown one.
 */
export function verifySignature(
  request: SignedRequest,
  secretOf: (accessKeyId: string) => string | undefined,
  nowMs: number,
): Credential {
  const credential = credentialOf(request);
  if (credential === null) {
    throw new AwsError(COMMON_ERRORS.missingAuthenticationToken, "Request is missing Authentication Token");
  }
  const secret = secretOf(credential.accessKeyId);
  if (secret === undefined) {
    throw new AwsError(
      COMMON_ERRORS.invalidClientTokenId,
      "The security token included in the request is invalid.",
    );
  }
  checkTime(credential, nowMs);
  if (!sameText(credential.signature, signatureOf(request, credential, secret))) {
    throw mismatch(
      "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access " +
        "Key and signing method. Consult the service documentation for details.",
    );
  }
  return credential;
}

/** The signature that a request should have. */
export function signatureOf(request: SignedRequest, credential: Credential, secret: string): string {
  const { date, region, service, signedAt } = credential;
  const scope = `${date}/${region}/${service}/aws4_request`;
  const toSign = [ALGORITHM, signedAt, scope, sha256Hex(canonicalRequest(request, credential))].join("\n");
  let key: Uint8Array = encoder.encode(`AWS4${secret}`);
  for (const part of [date, region, service, "aws4_request"]) key = hmac(sha256, key, encoder.encode(part));
  return bytesToHex(hmac(sha256, key, encoder.encode(toSign)));
}

function canonicalRequest({ method, url, headers, body }: SignedRequest, credential: Credential): string {
  const signed = credential.signedHeaders.map((name) => `${name}:${headerValue(name, headers, url)}\n`);
  return [
    method,
    // Each service but S3 encodes the path once more than it is sent.
    url.pathname.split("/").map(encode).join("/"),
    canonicalQuery(url.searchParams),
    signed.join(""),
    credential.signedHeaders.join(";"),
    sha256Hex(body),
  ].join("\n");
}

function headerValue(name: string, headers: RequestHeaders, url: RequestUrl): string {
  const value = headers.get(name) ?? (name === "host" ? url.host : "");
  return value.trim().replace(/ +/g, " ");
}

function canonicalQuery(params: URLSearchParams): string {
  return [...params]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .sort(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

/** RFC 3986: `encodeURIComponent` leaves five characters alone that must not be. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function checkTime({ signedAt, date, expiresSeconds }: Credential, nowMs: number): void {
  const signedMs = millisecondsOf(signedAt);
  if (signedMs === null || !signedAt.startsWith(date)) {
    throw mismatch(`Date in Credential scope does not match the date of the signature: ${date}, ${signedAt}`);
  }
  const now = stampOf(nowMs);
  if (signedMs > nowMs + CLOCK_SKEW_MS_MAX) {
    const latest = stampOf(nowMs + CLOCK_SKEW_MS_MAX);
    throw mismatch(`Signature not yet current: ${signedAt} is still later than ${latest} (${now} + 15 min.)`);
  }
  if (expiresSeconds !== null) {
    if (nowMs <= signedMs + 1000 * expiresSeconds) return;
    throw new AwsError(
      COMMON_ERRORS.requestExpired,
      `Request has expired: it was good until ${stampOf(signedMs + 1000 * expiresSeconds)}`,
    );
  }
  if (signedMs < nowMs - CLOCK_SKEW_MS_MAX) {
    const earliest = stampOf(nowMs - CLOCK_SKEW_MS_MAX);
    throw mismatch(`Signature expired: ${signedAt} is now earlier than ${earliest} (${now} - 15 min.)`);
  }
}

function millisecondsOf(stamp: string): number | null {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(stamp);
  if (parts === null) return null;
  const [year, month, day, hour, minute, second] = parts.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

function stampOf(ms: number): string {
  return new Date(ms).toISOString().replace(/[-:]|\.\d+/g, "");
}

/** Compares without telling by its time where the texts part. */
function sameText(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length && i < b.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}

function mismatch(text: string): AwsError {
  return new AwsError(COMMON_ERRORS.signatureDoesNotMatch, text);
}
