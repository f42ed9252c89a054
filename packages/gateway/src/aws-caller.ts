import { AwsError, COMMON_ERRORS, credentialOf, type SignedRequest, verifySignature } from "@sluice/aws";
import type { PageRequest } from "./page-origin.ts";
import type { Home } from "./queue-address.ts";

/**
 * Who may use the AWS endpoint.
 *
 * - `open`: everybody, with any credentials or none; but no page of another site that a developer has open.
 * - `keys`: who signs with one of these keys (spec sqs 1.5).
 * - `closed`: nobody, for the reason that is given.
 */
export type AwsAccess =
  | { readonly kind: "open"; readonly pages: PageAccess }
  | { readonly kind: "keys"; readonly secrets: ReadonlyMap<string, string> }
  | { readonly kind: "closed"; readonly reason: string };

/** Why a page of another site, or under another name, is refused; `null` for everybody else. */
export type PageAccess = (request: PageRequest) => string | null;

/**
 * Refuses what a page of another site sends where no keys are asked for. An image or a link makes a GET request without an
 * origin; the browser says all the same that another site is behind it.
 */
export function refusedPage(request: PageRequest, access: AwsAccess): AwsError | null {
  if (access.kind !== "open") return null;
  const site = request.headers.get("sec-fetch-site") ?? "none";
  const isOtherSite = site !== "none" && site !== "same-origin";
  const reason = isOtherSite
    ? "Pages of other sites may not use this broker: it asks for no keys."
    : access.pages(request);
  return reason === null ? null : new AwsError(COMMON_ERRORS.accessDenied, reason);
}

/** Who makes a request, and in which region. */
export interface Caller extends Home {
  readonly accessKeyId: string;
}

/** Name of who brings no credentials. */
const ANONYMOUS = "anonymous";

/**
 * Who makes a request. The region is that of its signature; an access key of twelve digits is the number of the account.
 *
 * @throws AwsError for a signature that is not good, where signatures are checked.
 */
export function callerOf(request: SignedRequest, access: AwsAccess, home: Home, nowMs: number): Caller {
  if (access.kind === "closed") throw new AwsError(COMMON_ERRORS.accessDenied, access.reason);
  const credential =
    access.kind === "keys"
      ? verifySignature(request, (key) => access.secrets.get(key), nowMs)
      : credentialLeniently(request);
  if (credential === null) return { ...home, accessKeyId: ANONYMOUS };
  const { accessKeyId, region } = credential;
  const account = /^\d{12}$/.test(accessKeyId) ? accessKeyId : home.account;
  return { accessKeyId, region, account };
}

/** Where nothing is checked half a credential is as good as none. */
function credentialLeniently(request: SignedRequest) {
  try {
    return credentialOf(request);
  } catch {
    return null;
  }
}
