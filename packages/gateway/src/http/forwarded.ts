import type { PublicUrl } from "@sluice/protocol";

/** Longest host with its port, and longest path, in characters, that are taken from a header. */
const LENGTH_MAX = 255;
const PROTOCOLS: ReadonlySet<string> = new Set(["http", "https"]);
const PATH = /^(?:\/[\w.~-]+)*\/?$/;
/** Characters of a name or an IP address, with a port or without. The URL parser takes others too, the comma of a list. */
const HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d+)?$/;
const DOT_SEGMENT = /\/\.{1,2}(?:\/|$)/;

/**
 * Finds the address by which a client reached a trusted proxy, from `X-Forwarded-Proto`, `X-Forwarded-Host` and
 * `X-Forwarded-Prefix`. A header that is not exactly one valid value counts as none: in a list, values may come from the
 * client, which is not trusted.
 *
 * @param seen URL of the request as it came here. Gives the parts that no valid header gives.
 */
export function forwardedAddress(seen: URL, headers: Pick<Headers, "get">): PublicUrl {
  const forwarded = headers.get("x-forwarded-proto")?.toLowerCase() ?? "";
  const protocol = PROTOCOLS.has(forwarded) ? forwarded : seen.protocol.slice(0, -1);
  const host = forwardedHost(headers);
  const site = (host === null ? null : URL.parse(`${protocol}://${host}`)) ?? siteOf(seen, protocol);
  return { origin: site.origin, hostname: site.hostname, host: site.host, path: prefixIn(headers) };
}

/** Reads `X-Forwarded-Host`; `null` for none, and for a text that is not one host with a port or without. */
export function forwardedHost(headers: Pick<Headers, "get">): string | null {
  const given = headers.get("x-forwarded-host")?.toLowerCase() ?? "";
  if (given.length > LENGTH_MAX || given.includes("..") || !HOST.test(given)) return null;
  // A URL that keeps the host as it was written has no IP address in another notation. It drops a protocol's own port.
  const url = URL.parse(`ws://${given}`);
  const port = /:(\d+)$/.exec(given.replace(/^\[.*\]/, ""))?.[1];
  if (url === null || given !== (port === undefined ? url.hostname : `${url.hostname}:${port}`)) return null;
  return given;
}

function siteOf(seen: URL, protocol: string): URL {
  return URL.parse(`${protocol}://${seen.host}`) ?? seen;
}

function prefixIn(headers: Pick<Headers, "get">): string {
  const given = headers.get("x-forwarded-prefix") ?? "";
  const isPath = given.length <= LENGTH_MAX && PATH.test(given) && !DOT_SEGMENT.test(given);
  return isPath ? given.replace(/\/$/, "") : "";
}
