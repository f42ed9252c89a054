import {
  AwsError,
  COMMON_ERRORS,
  type Credential,
  credentialOf,
  type RequestHead,
  type SignatureCheck,
  signatureClaimOf,
  verifySignature,
} from "@sluice/aws";
import { ACTORS, type TokenRecord } from "@sluice/protocol";
import type { Effect, PageRequest } from "../http/page-origin.ts";
import type { KeptKeys } from "../rights/access-keys.ts";
import { allRights, type Rights } from "../rights/rights.ts";
import type { Home } from "./queue-address.ts";
import type { AwsRequest } from "./request.ts";

/**
 * Access to the AWS endpoint, by the callers that it admits.
 *
 * - `open`: any client, with any credentials or none, but no page of another site.
 * - `keys`: clients that sign with one of these keys, or with one that the broker keeps (spec sqs 1.5). Without any
 *   keys it is closed, for the reason `whenNone`.
 * - `closed`: no client, for the reason that is given.
 */
export type AwsAccess =
  | { readonly kind: "open"; readonly pages: PageAccess }
  | { readonly kind: "keys"; readonly secrets: ReadonlyMap<string, string>; readonly whenNone?: string }
  | { readonly kind: "closed"; readonly reason: string };

/** Returns why a page of another site, or under another host name, is refused; `null` for all other requests. */
export type PageAccess = (request: PageRequest, effect: Effect) => string | null;

/**
 * Refuses requests that a page of another site may have sent, where no keys are asked for. Throws `AwsError`
 * (`AccessDenied`).
 *
 * @param effects effect of each action of the service. Only a GET has its action in the URL; other requests count as
 * changes.
 */
export function refusePage(
  request: Pick<AwsRequest, "method" | "url" | "headers">,
  access: AwsAccess,
  effects: Readonly<Record<string, Effect>>,
): void {
  if (access.kind !== "open") return;
  const { method, url } = request;
  const reason = access.pages(request, method === "GET" ? effectOf(url.searchParams, effects) : "changes");
  if (reason !== null) throw new AwsError(COMMON_ERRORS.accessDenied, reason);
}

/** Returns the effect of the action in a URL. An unknown action is refused later, so it changes nothing. */
function effectOf(parameters: URLSearchParams, effects: Readonly<Record<string, Effect>>): Effect {
  const action = parameters.get("Action") ?? "";
  return (Object.hasOwn(effects, action) ? effects[action] : undefined) ?? "reads";
}

/** Identity of the caller of a request, with its region and rights. */
export interface Caller extends Home {
  readonly accessKeyId: string;
  readonly rights: Rights;
  /** The token that its key belongs to; `null` for a key of the configuration, and for none. */
  readonly token: TokenRecord | null;
}

/** Makes a caller without credentials, with all rights. */
export function anonymous(home: Home, by: string = ACTORS.anonymous): Caller {
  return { ...home, accessKeyId: ACTORS.anonymous, rights: allRights(by), token: null };
}

/** How a caller is identified. */
export interface CallerCheck {
  /** The service that the request is for, as signatures name it. */
  readonly service: "sqs" | "sns";
  readonly access: AwsAccess;
  readonly home: Home;
  readonly nowMs: number;
  /** Keys that the broker keeps. */
  readonly kept: KeptKeys;
}

/**
 * Identifies the caller of a request. The region is that of its signature; an access key of twelve digits is the number
 * of the account. Reads the body only of a request that names a known access key.
 *
 * @throws AwsError for an invalid signature, where signatures are checked.
 */
export async function callerOf(request: AwsRequest, check: CallerCheck): Promise<Caller> {
  const { service, access, home, nowMs, kept } = check;
  if (access.kind === "closed") throw new AwsError(COMMON_ERRORS.accessDenied, access.reason);
  if (access.kind === "keys" && hasNoKeys(access, kept)) {
    throw new AwsError(COMMON_ERRORS.accessDenied, access.whenNone ?? "There are no access keys.");
  }
  const keptKey = (id: string) => {
    const key = kept.get(id);
    return key === undefined || key.untilMs <= nowMs ? undefined : key;
  };
  const secretOf = (key: string) =>
    access.kind === "keys" ? (access.secrets.get(key) ?? keptKey(key)?.secretAccessKey) : undefined;
  const credential =
    access.kind === "keys"
      ? await verifiedCredential(request, { service, nowMs, secretOf })
      : credentialOrNull(request);
  // Only `open` access admits a request without credentials.
  if (credential === null) return anonymous(home, ACTORS.local);
  const { accessKeyId, region } = credential;
  const account = /^\d{12}$/.test(accessKeyId) ? accessKeyId : home.account;
  const token =
    access.kind === "keys" && !access.secrets.has(accessKeyId) ? keptKey(accessKeyId)?.token : null;
  if (token != null) {
    const { name, scopes, queues } = token;
    return { accessKeyId, region, account, rights: { by: name, scopes, queues }, token };
  }
  const rights = allRights(access.kind === "keys" ? accessKeyId : ACTORS.local);
  return { accessKeyId, region, account, rights, token: null };
}

async function verifiedCredential(request: AwsRequest, check: SignatureCheck): Promise<Credential> {
  const claim = signatureClaimOf(request, check);
  const { method, headers, url } = request.sent;
  verifySignature({ method, headers, url, body: await request.readBytes() }, claim);
  return claim.credential;
}

/** Whether there are no keys to sign with. */
export function hasNoKeys(
  { secrets }: { readonly secrets: ReadonlyMap<string, string> },
  kept: KeptKeys,
): boolean {
  return secrets.size === 0 && kept.size === 0;
}

/** Returns the credential of a request that is not checked; `null` for none, and for a malformed one. */
function credentialOrNull(request: RequestHead): Credential | null {
  try {
    return credentialOf(request);
  } catch {
    return null;
  }
}
