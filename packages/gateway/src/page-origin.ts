import type { Access } from "./access.ts";
import { siteOfUrl } from "./request-url.ts";

/** What a request tells of the page that it may be for. */
export interface PageRequest {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  readonly headers: Pick<Headers, "get">;
}

/** Methods that change nothing. With every other one a browser tells which origin the page is of. */
const READING_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
/** Names that no public name server answers for, so that no page of somebody else's can come under them. */
const PRIVATE_NAMES = /(^|\.)(localhost|local|internal|test|home\.arpa)$/;

/**
 * Why a request to an open broker is refused for the host it names; `null` if it is not.
 *
 * A page of any site can let its own name point at 127.0.0.1 and then reads this broker as its own (DNS rebinding). That
 * needs a public name: addresses, names without a dot (a container's) and private ones are nobody else's. So `--ip 0.0.0.0`
 * and containers keep working, and a tunnel's name has to be listed.
 */
export function refusedHost(access: Access, request: PageRequest): string | null {
  if (access.kind !== "open") return null;
  const { hostname } = ownUrl(access, request);
  const isAddress = /^[\d.]+$|^\[/.test(hostname);
  const isPrivate = isAddress || !hostname.includes(".") || PRIVATE_NAMES.test(hostname);
  if (isPrivate || access.hosts.includes(hostname)) return null;
  return `This broker is open to this machine and does not answer under the name ${hostname}. If that is yours, list it in SLUICE_ALLOWED_HOSTS.`;
}

/**
 * Why a request that would change something is refused; `null` if it is not: any page that a developer opens can make the
 * browser send requests to `localhost`, and would otherwise purge their queues. What is no browser names no origin.
 */
export function refusedOrigin(access: Access, request: PageRequest): string | null {
  if (READING_METHODS.has(request.method)) return null;
  const origin = request.headers.get("origin");
  if (origin === null) return null;
  const own = ownUrl(access, request).origin;
  if (origin === own) return null;
  return `A page of origin ${origin} may change nothing here; a page of ${own} may.`;
}

/** Where `wrangler dev` says which host was asked for when it has put that of a route in its place. */
const ORIGINAL_HOST_HEADER = "mf-original-hostname";

/**
 * The address that was asked for. The header is believed only beside the host of a route: then Wrangler has written it. On
 * other requests it leaves whatever a page put there.
 */
function ownUrl(access: Access, request: PageRequest): Pick<URL, "origin" | "hostname"> {
  const site = siteOfUrl(request.url);
  const isReplaced = access.kind === "open" && access.routeHosts.includes(site.hostname);
  const host = isReplaced ? request.headers.get(ORIGINAL_HOST_HEADER) : null;
  return host === null ? site : new URL(`${site.protocol}//${host}`);
}
