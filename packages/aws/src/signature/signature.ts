import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { AwsError, COMMON_ERRORS } from "../aws-error.ts";
import { sha256Hex } from "../values/digest.ts";
import {
  ALGORITHM,
  type Credential,
  credentialOf,
  incomplete,
  mismatch,
  type RequestHead,
  type RequestHeaders,
  type RequestUrl,
  type SignedRequest,
} from "./credential.ts";

/** Furthest that a signer's clock may be off, in ms (spec sqs 1.5). */
export const CLOCK_SKEW_MS_MAX = 15 * 60_000;

const encoder = new TextEncoder();

/** Service, secrets and time against which a signature is checked. */
export interface SignatureCheck {
  /** The service that the request is for, as a credential's scope names it. */
  readonly service: string;
  /** Returns the secret of an access key; `undefined` for an unknown one. */
  secretOf(accessKeyId: string): string | undefined;
  readonly nowMs: number;
}

/** A signature of a known key, for this service and of this time. The body is needed to verify it. */
export interface SignatureClaim {
  readonly credential: Credential;
  readonly secret: string;
}

/**
 * Reads a Signature Version 4, in the header or presigned, and checks the parts that need no body: a body is read only
 * of a request that names a known key. Each `x-amz-*` header and `host` have to be signed: with one more it would be
 * another request. The checks are in AWS's order.
 *
 * @throws AwsError `MissingAuthenticationToken`; `IncompleteSignature` for missing parts or a parameter that comes
 *   twice; `SignatureDoesNotMatch` for one of another service or day, too old or too new; `RequestExpired` for a
 *   presigned URL that has expired; `InvalidClientTokenId` for an unknown key.
 */
export function signatureClaimOf(
  request: RequestHead,
  { service, secretOf, nowMs }: SignatureCheck,
): SignatureClaim {
  refuseRepeated(request.url);
  const credential = credentialOf(request);
  if (credential === null) {
    throw new AwsError(COMMON_ERRORS.missingAuthenticationToken, "Request is missing Authentication Token");
  }
  checkSignedHeaders(credential.signedHeaders, request.headers);
  checkTime(credential, nowMs);
  checkScope(credential, service);
  const secret = secretOf(credential.accessKeyId);
  if (secret === undefined) throw unknownAccessKey();
  return { credential, secret };
}

/**
 * Checks that a signature is that of the whole request: of its method, path, parameters, signed headers and body.
 *
 * @throws AwsError `SignatureDoesNotMatch`.
 */
export function verifySignature(request: SignedRequest, { credential, secret }: SignatureClaim): void {
  if (isSameText(credential.signature, signatureOf(request, credential, secret))) return;
  throw mismatch(
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access " +
      "Key and signing method. Consult the service documentation for details.",
  );
}

/** Makes `InvalidClientTokenId`, the error for a request that names an unknown key. */
export function unknownAccessKey(): AwsError {
  return new AwsError(
    COMMON_ERRORS.invalidClientTokenId,
    "The security token included in the request is invalid.",
  );
}

/** Parameters are sorted before they are signed: of two with one name the signature does not say which comes first. */
function refuseRepeated(url: RequestUrl): void {
  if (url.search === "") return;
  const names = new Set<string>();
  for (const name of url.searchParams.keys()) {
    if (names.has(name)) throw incomplete(`The query string has the parameter '${name}' more than once.`);
    names.add(name);
  }
}

/** Prefix of headers that belong to the request proper: adding one to a signed request makes it another request. */
const SERVICE_HEADER_PREFIX = "x-amz-";
/** Header that Amazon CloudFront adds to requests that it forwards. It means nothing to a service. */
const FORWARDED_HEADER = "x-amz-cf-id";

function checkSignedHeaders(names: readonly string[], headers: RequestHeaders): void {
  const signed = new Set(names);
  if (!signed.has("host")) {
    throw mismatch("'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.");
  }
  for (const name of headers.keys()) {
    if (!name.startsWith(SERVICE_HEADER_PREFIX) || name === FORWARDED_HEADER || signed.has(name)) continue;
    throw mismatch(`'${name}' must be a 'SignedHeader' in the AWS Authorization.`);
  }
}

/** Length of the day in `yyyymmddThhmmssZ`. */
const DAY_LENGTH = 8;

function checkScope({ date, service: own, signedAt }: Credential, service: string): void {
  const day = signedAt.slice(0, DAY_LENGTH);
  if (own !== service) throw mismatch(`Credential should be scoped to correct service: '${service}'.`);
  if (date === day) return;
  throw mismatch(
    "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: " +
      `'${date}' != '${day}', from '${signedAt}'.`,
  );
}

/** Computes the signature that a request should have. Throws `AwsError` if a header is absent that should be signed. */
export function signatureOf(request: SignedRequest, credential: Credential, secret: string): string {
  const { date, region, service, signedAt } = credential;
  const scope = `${date}/${region}/${service}/aws4_request`;
  const toSign = [ALGORITHM, signedAt, scope, sha256Hex(canonicalRequest(request, credential))].join("\n");
  let key: Uint8Array = encoder.encode(`AWS4${secret}`);
  for (const part of [date, region, service, "aws4_request"]) key = hmac(sha256, key, encoder.encode(part));
  return bytesToHex(hmac(sha256, key, encoder.encode(toSign)));
}

function canonicalRequest({ method, url, headers, body }: SignedRequest, credential: Credential): string {
  const signed = credential.signedHeaders.map((name) => `${name}:${canonicalValue(name, headers, url)}\n`);
  return [
    method,
    // Each service but S3 encodes the path once more than it is sent.
    url.pathname.split("/").map(encode).join("/"),
    canonicalQuery(url, credential.expiresSeconds !== null),
    signed.join(""),
    credential.signedHeaders.join(";"),
    sha256Hex(body),
  ].join("\n");
}

function canonicalValue(name: string, headers: RequestHeaders, url: RequestUrl): string {
  const value = headers.get(name) ?? (name === "host" ? url.host : null);
  if (value !== null) return value.trim().replace(/[ \t]+/g, " ");
  throw mismatch(`'${name}' is named as a SignedHeader, but it does not exist in the HTTP request`);
}

/** @param isPresigned whether one of the parameters is the signature itself. */
function canonicalQuery(url: RequestUrl, isPresigned: boolean): string {
  if (url.search === "") return "";
  return [...url.searchParams]
    .filter(([name]) => !(isPresigned && name === "X-Amz-Signature"))
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

function checkTime({ signedAt, expiresSeconds }: Credential, nowMs: number): void {
  const signedMs = millisecondsOf(signedAt);
  if (signedMs === null) {
    throw incomplete(
      `Date must be in ISO-8601 'basic format'. Got '${signedAt}'. See http://en.wikipedia.org/wiki/ISO_8601`,
    );
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
  const ms = Date.UTC(year, month - 1, day, hour, minute, second);
  // `Date.UTC` takes the 31st of June for the 1st of July.
  return stampOf(ms) === stamp ? ms : null;
}

function stampOf(ms: number): string {
  return new Date(ms).toISOString().replace(/[-:]|\.\d+/g, "");
}

/** Compares in constant time, so that the time does not tell where the texts differ. */
export function isSameText(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length && i < b.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}
