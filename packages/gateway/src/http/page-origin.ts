import { isSignatureHeader } from "@sluice/aws";
import type { Access } from "./access.ts";
import { publicUrlOf } from "./public-address.ts";

/** Parts of a request by which one of a page is recognised. */
export interface PageRequest {
  readonly method: string;
  /** Absolute. */
  readonly url: string | URL;
  readonly headers: Pick<Headers, "get">;
}

/** Effect of an action whose method does not show it. */
export type Effect =
  /** The action changes no queue, no topic and no message. */
  | "reads"
  | "changes"
  /**
   * The action changes something for a caller that names a secret, as the links in messages of SNS do: such a caller
   * may come from any site.
   */
  | "byToken";

/**
 * Methods that change nothing where they mean what HTTP says. With every other one a browser names the origin of the
 * page.
 */
const READING_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
/** Names that no public name server answers for, so that no page of another site can come under them. */
const PRIVATE_NAMES = /(^|\.)(localhost|local|internal|test|home\.arpa)$/;

/**
 * Why a request to an open broker is refused for the host it names; `null` if it is not.
 *
 * A page of any site can let its own name point at 127.0.0.1 and then reads this broker as its own (DNS rebinding).
 * That needs a public name: addresses, names without a dot (a container's) and private ones belong to no other site. So
 * `--ip 0.0.0.0` and containers keep working, and a tunnel's name has to be listed.
 */
export function refusedHost(access: Access, request: PageRequest): string | null {
  if (access.kind !== "open") return null;
  // A page can write the headers of a proxy, so the name in the request's URL counts beside the one in them.
  const names = [ownUrl(access, request).hostname, publicSite(access, request).hostname];
  const hostname = names.find((name) => !isPrivate(name) && !access.hosts.includes(name));
  if (hostname === undefined) return null;
  return (
    `This broker is open to this machine and does not answer under the name ${hostname}. If that is ` +
    "yours, list it in SLUICE_ALLOWED_HOSTS."
  );
}

function isPrivate(hostname: string): boolean {
  return /^[\d.]+$|^\[/.test(hostname) || !hostname.includes(".") || PRIVATE_NAMES.test(hostname);
}

/**
 * Why a request is refused that a page of another origin may have sent; `null` if it is not. Any page that a developer
 * opens can make the browser send requests to `localhost` and to private addresses, and could purge queues. Programs
 * other than browsers name no origin and no site.
 */
export function refusedPage(access: Access, request: PageRequest, effect: Effect): string | null {
  const host = refusedHost(access, request);
  if (host !== null || effect === "byToken") return host;
  return refusedOrigin(access, request) ?? (effect === "changes" ? refusedBareGet(request) : null);
}

/**
 * Why a request is refused that a page of another origin has sent; `null` if it is not. A browser names the origin with
 * every method but the reading ones, and with those too where a script reads the answer: a server before this one, as
 * that of Vite, may let every script read it. To trusted addresses a browser names the site.
 */
export function refusedOrigin(access: Access, request: PageRequest): string | null {
  const origin = request.headers.get("origin");
  if (origin !== null && origin !== ownUrl(access, request).origin) {
    const ours = publicSite(access, request).origin;
    if (origin !== ours) {
      return `A page of origin ${origin} may not use this broker; a page of ${ours} may.`;
    }
  }
  return OWN_SITES.has(siteOf(request)) ? null : "A page of another site may not use this broker.";
}

/**
 * Why a GET without an origin is refused; `null` if it is not. An image or a link makes one, and to a private address
 * over plain HTTP a browser does not name the site behind it. A link in a mail program has no site (`none`), and its
 * reader did not write it. No page can add a signature in the header: for that the browser asks the server first.
 * `Basic` proves nothing, because a browser adds it by itself.
 */
function refusedBareGet(request: PageRequest): string | null {
  if (!READING_METHODS.has(request.method) || siteOf(request) === "same-origin") return null;
  if (isSignatureHeader(request.headers.get("authorization"))) return null;
  return (
    "A GET that changes something needs a signature in its Authorization header, because a page of any " +
    "site can send one without. " +
    "Sign it there, or send a POST. A presigned URL works where access keys are set."
  );
}

/** Reads the site that a browser names behind a request; `null` for none, as in requests of other programs. */
function siteOf({ headers }: PageRequest): string | null {
  return headers.get("sec-fetch-site");
}

/** Sites that are no other page's. `none` is that of an address that a user types, or of a link in a program. */
const OWN_SITES: ReadonlySet<string | null> = new Set([null, "none", "same-origin"]);

/** Returns the address of the broker's own page in its reader's browser. */
function publicSite(access: Access, request: PageRequest): Pick<URL, "origin" | "hostname"> {
  const url = typeof request.url === "string" ? new URL(request.url) : request.url;
  return publicUrlOf(access.publicAddress, { url, headers: request.headers }) ?? ownUrl(access, request);
}

/** Header in which `wrangler dev` names the host of a request in whose place it has put that of a route. */
const ORIGINAL_HOST_HEADER = "mf-original-hostname";

/**
 * Returns the address that the client has asked for. The header counts only beside the host of a route: then Wrangler
 * has written it. On other requests Wrangler leaves a header that a page has written.
 */
function ownUrl(access: Access, request: PageRequest): Pick<URL, "origin" | "hostname"> {
  const site = typeof request.url === "string" ? new URL(request.url) : request.url;
  const isReplaced = access.kind === "open" && access.routeHosts.includes(site.hostname);
  const host = isReplaced ? request.headers.get(ORIGINAL_HOST_HEADER) : null;
  return host === null ? site : new URL(`${site.protocol}//${host}`);
}
