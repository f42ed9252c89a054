import { AwsError, COMMON_ERRORS } from "../aws-error.ts";

/** Parts of a request's URL that this package reads. */
export type RequestUrl = Pick<URL, "host" | "origin" | "pathname" | "search" | "searchParams">;

/** Request headers, as far as this package reads them; names are in lower case. */
export interface RequestHeaders {
  get(name: string): string | null;
  keys(): Iterable<string>;
}

/** A request without its body. */
export interface RequestHead {
  readonly method: string;
  readonly url: RequestUrl;
  readonly headers: RequestHeaders;
}

/** A request as it came in; the body in full. */
export interface SignedRequest extends RequestHead {
  readonly body: Uint8Array;
}

/** Signature of a request with its access key, scope and times, from `Authorization` or a presigned URL's query. */
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

/**
 * Reads the credential of a request, `null` where there is none. Throws `AwsError`: `IncompleteSignature` for a
 * credential with parts missing, `SignatureDoesNotMatch` for a scope that no signature has.
 */
export function credentialOf({ url, headers }: RequestHead): Credential | null {
  const authorization = headers.get("authorization");
  if (isSignatureHeader(authorization)) return fromHeader(authorization, headers);
  if (url.search === "") return null;
  const { searchParams: params } = url;
  return isPresigned(params) ? fromQuery(params) : null;
}

/** Whether the query of a request holds a signature, valid or not. */
export function isPresigned(params: Pick<URLSearchParams, "has">): boolean {
  return params.has("X-Amz-Signature") || params.has("X-Amz-Algorithm");
}

/** Whether an `Authorization` header holds a signature, valid or not. A browser sends no such header by itself. */
export function isSignatureHeader(authorization: string | null): authorization is string {
  return authorization?.startsWith(ALGORITHM) === true;
}

function fromHeader(authorization: string, headers: RequestHeaders): Credential {
  const fields = new Map<string, string>();
  for (const part of authorization.slice(ALGORITHM.length).split(",")) {
    const [name, ...value] = part.trim().split("=");
    if (!name) continue;
    if (fields.has(name))
      throw incomplete(`Authorization header has the parameter '${name}' more than once.`);
    fields.set(name, value.join("="));
  }
  const missing = ["Credential", "Signature", "SignedHeaders"]
    .filter((name) => !fields.get(name))
    .map((name) => `Authorization header requires '${name}' parameter.`);
  if (missing.length > 0) throw incomplete(`${missing.join(" ")} Authorization=${ALGORITHM}`);
  const signedHeaders = headerNames(fields.get("SignedHeaders") ?? "");
  const signedAt = signedAtOf(headers);
  const scope = scopeOf(fields.get("Credential") ?? "");
  return {
    ...scope,
    signedHeaders,
    signature: fields.get("Signature") ?? "",
    signedAt,
    expiresSeconds: null,
  };
}

function signedAtOf(headers: RequestHeaders): string {
  const signedAt = headers.get("x-amz-date") ?? headers.get("date");
  if (signedAt !== null) return signedAt;
  throw incomplete("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.");
}

/** Query parameters that a presigned URL must have for its signature. */
const QUERY_PARAMETERS = [
  "X-Amz-Algorithm",
  "X-Amz-Credential",
  "X-Amz-Signature",
  "X-Amz-SignedHeaders",
  "X-Amz-Date",
] as const;

function fromQuery(params: URLSearchParams): Credential {
  const missing = QUERY_PARAMETERS.filter((name) => !params.get(name));
  if (missing.length > 0) {
    const texts = missing.map((name) => `AWS query-string parameters must include '${name}'.`);
    throw incomplete(`${texts.join(" ")} Re-examine the query-string parameters.`);
  }
  const [algorithm, credential, signature, signedHeaders, signedAt] = QUERY_PARAMETERS.map(
    (name) => params.get(name) ?? "",
  ) as [string, string, string, string, string];
  if (algorithm !== ALGORITHM) {
    throw incomplete(`Unsupported AWS 'algorithm': '${algorithm}' (only ${ALGORITHM} for now).`);
  }
  const expires = Number(params.get("X-Amz-Expires") ?? 300);
  if (!(expires >= 1 && expires <= PRESIGNED_SECONDS_MAX)) {
    throw incomplete(`X-Amz-Expires must be from 1 to ${PRESIGNED_SECONDS_MAX} seconds.`);
  }
  return {
    ...scopeOf(credential),
    signedHeaders: headerNames(signedHeaders),
    signature,
    signedAt,
    expiresSeconds: expires,
  };
}

/** A region is part of ARNs and URLs. */
const REGION = /^[A-Za-z0-9-]{1,64}$/;
const TERMINATOR = "aws4_request";
/** Elements of a credential: key, date, region, service, terminator. */
const CREDENTIAL_ELEMENTS = 5;

function headerNames(text: string): string[] {
  const names = text.split(";");
  if (!names.every((name) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))) {
    throw incomplete(`SignedHeaders must be names of headers with semicolons between them, got '${text}'.`);
  }
  // Each name puts its header's value into the text that is hashed: repeated names make that text grow with the square.
  if (new Set(names).size === names.length) return names;
  throw incomplete("SignedHeaders must name each header once.");
}

function scopeOf(credential: string): Pick<Credential, "accessKeyId" | "date" | "region" | "service"> {
  const elements = credential.split("/");
  if (elements.length !== CREDENTIAL_ELEMENTS || elements.includes("")) {
    throw incomplete(
      "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, " +
        `got '${credential}'`,
    );
  }
  const [accessKeyId, date, region, service, terminator] = elements as [
    string,
    string,
    string,
    string,
    string,
  ];
  if (!REGION.test(region)) throw mismatch(`Credential should be scoped to a valid region, not '${region}'.`);
  if (terminator !== TERMINATOR) {
    throw mismatch(
      `Credential should be scoped with a valid terminator: '${TERMINATOR}', not '${terminator}'.`,
    );
  }
  return { accessKeyId, date, region, service };
}

export function incomplete(text: string): AwsError {
  return new AwsError(COMMON_ERRORS.incompleteSignature, text);
}

export function mismatch(text: string): AwsError {
  return new AwsError(COMMON_ERRORS.signatureDoesNotMatch, text);
}
