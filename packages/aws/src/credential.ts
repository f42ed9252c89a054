import { AwsError, COMMON_ERRORS } from "./aws-error.ts";

/** What of a request's URL is looked at. */
export type RequestUrl = Pick<URL, "host" | "origin" | "pathname" | "search" | "searchParams">;

/** What of a request's headers is looked at; names are in lower case. */
export type RequestHeaders = Pick<Headers, "get">;

/** A request as it came in; the body in full. */
export interface SignedRequest {
  readonly method: string;
  readonly url: RequestUrl;
  readonly headers: RequestHeaders;
  readonly body: Uint8Array;
}

/** Who signed a request for what, and how: what stands in `Authorization` or in the query of a presigned URL. */
export interface Credential {
  readonly accessKeyId: string;
  /** `yyyymmdd` of the key that was derived for this day. */
  readonly date: string;
  readonly region: string;
  readonly service: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  /** When it was signed: `yyyymmddThhmmssZ`. */
  readonly signedAt: string;
  /** How long a presigned URL is good for, in seconds; `null` for a signature in a header. */
  readonly expiresSeconds: number | null;
}

export const ALGORITHM = "AWS4-HMAC-SHA256";
/** Longest that a presigned URL may be good for: a week, in seconds. */
export const PRESIGNED_SECONDS_MAX = 604_800;

/** Reads the credential of a request, `null` where there is none. Throws `AwsError` (`IncompleteSignature`) for half of one. */
export function credentialOf({ url, headers }: SignedRequest): Credential | null {
  const authorization = headers.get("authorization");
  if (authorization?.startsWith(ALGORITHM)) return fromHeader(authorization, headers);
  if (url.search === "" || !url.searchParams.has("X-Amz-Signature")) return null;
  return fromQuery(url.searchParams);
}

/** What a client says of itself with each of its requests of a day. */
type Signer = Pick<Credential, "accessKeyId" | "date" | "region" | "service" | "signedHeaders">;

/** What a header says of one request. */
interface Signed {
  readonly signature: string;
  readonly signer: Signer;
}

/** Signers that are remembered, and how long what they say may be: to read it took a third of the time of a small request. */
const SIGNERS_MAX = 1_000;
const SIGNER_LENGTH_MAX = 1_024;
/** By all that stands before the signature. */
const signers = new Map<string, Signer>();
/** A signature that is the last field, where SDKs put it. */
const LAST_SIGNATURE = /^, *Signature=[0-9a-f]{64}$/;
const SIGNATURE_LENGTH = 64;

function fromHeader(authorization: string, headers: RequestHeaders): Credential {
  const { signature, signer } = signedBy(authorization, headers);
  const { accessKeyId, date, region, service, signedHeaders } = signer;
  const signedAt = signedAtOf(headers);
  return { accessKeyId, date, region, service, signedHeaders, signature, signedAt, expiresSeconds: null };
}

function signedBy(authorization: string, headers: RequestHeaders): Signed {
  const lastField = authorization.lastIndexOf(",");
  if (!LAST_SIGNATURE.test(authorization.slice(lastField))) return readHeader(authorization, headers);
  const said = authorization.slice(0, lastField);
  const known = signers.get(said);
  if (known !== undefined) return { signature: authorization.slice(-SIGNATURE_LENGTH), signer: known };
  const read = readHeader(authorization, headers);
  note(said, read.signer);
  return read;
}

function note(said: string, signer: Signer): void {
  if (said.length > SIGNER_LENGTH_MAX) return;
  if (signers.size >= SIGNERS_MAX) signers.clear();
  signers.set(said, signer);
}

function readHeader(authorization: string, headers: RequestHeaders): Signed {
  const fields = new Map<string, string>();
  for (const part of authorization.slice(ALGORITHM.length).split(",")) {
    const [name, ...value] = part.trim().split("=");
    if (name) fields.set(name, value.join("="));
  }
  for (const name of ["Credential", "SignedHeaders", "Signature"]) {
    if (!fields.get(name)) {
      throw incomplete(`Authorization header requires '${name}' parameter.`);
    }
  }
  const signedHeaders = headerNames(fields.get("SignedHeaders") ?? "");
  signedAtOf(headers);
  const scope = scopeOf(fields.get("Credential") ?? "");
  return { signature: fields.get("Signature") ?? "", signer: { ...scope, signedHeaders } };
}

function signedAtOf(headers: RequestHeaders): string {
  const signedAt = headers.get("x-amz-date");
  if (signedAt !== null) return signedAt;
  throw incomplete("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.");
}

function fromQuery(params: URLSearchParams): Credential {
  const required = (name: string) => {
    const value = params.get(name);
    if (!value) throw incomplete(`AWS query-string parameters must include '${name}'.`);
    return value;
  };
  const expires = Number(params.get("X-Amz-Expires") ?? 300);
  if (!(expires >= 1 && expires <= PRESIGNED_SECONDS_MAX)) {
    throw incomplete(`X-Amz-Expires must be from 1 to ${PRESIGNED_SECONDS_MAX} seconds.`);
  }
  return {
    ...scopeOf(required("X-Amz-Credential")),
    signedHeaders: headerNames(required("X-Amz-SignedHeaders")),
    signature: required("X-Amz-Signature"),
    signedAt: required("X-Amz-Date"),
    expiresSeconds: expires,
  };
}

/** A region is part of ARNs and URLs. */
const REGION = /^[A-Za-z0-9-]{1,64}$/;

function headerNames(text: string): string[] {
  const names = text.split(";");
  if (names.every((name) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))) return names;
  throw incomplete(`SignedHeaders must be names of headers with semicolons between them, got '${text}'.`);
}

function scopeOf(credential: string): Pick<Credential, "accessKeyId" | "date" | "region" | "service"> {
  const [accessKeyId, date, region, service, terminator] = credential.split("/");
  const isWhole = accessKeyId && date && region && service && terminator === "aws4_request";
  if (!isWhole || !REGION.test(region)) {
    throw incomplete(
      `Credential must have the form KEY/yyyymmdd/region/service/aws4_request, got '${credential}'.`,
    );
  }
  return { accessKeyId, date, region, service };
}

function incomplete(text: string): AwsError {
  return new AwsError(COMMON_ERRORS.incompleteSignature, text);
}
