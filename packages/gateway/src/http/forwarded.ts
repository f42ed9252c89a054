import type { PublicUrl } from "@sluice/protocol";

/** Longest name of a host, and longest path, that are taken from a header. */
const LENGTH_MAX = 255;
const PROTOCOLS: ReadonlySet<string> = new Set(["http", "https"]);
const PATH = /^(?:\/[\w.~-]+)*\/?$/;
const DOT_SEGMENT = /\/\.{1,2}(?:\/|$)/;

/**
 * Reads the address that a client of a trusted proxy has sent a request to, out of `X-Forwarded-Proto`,
 * `X-Forwarded-Host` and `X-Forwarded-Prefix`. A header that is no single value of its kind counts as none: in a list,
 * values come from the client, which is not trusted.
 *
 * @param seen URL of the request as it came here, for parts that no header names.
 */
export function forwardedAddress(seen: URL, headers: Pick<Headers, "get">): PublicUrl {
  const named = headers.get("x-forwarded-proto")?.toLowerCase() ?? "";
  const protocol = PROTOCOLS.has(named) ? named : seen.protocol.slice(0, -1);
  const host = forwardedHost(headers);
  const site = (host === null ? null : URL.parse(`${protocol}://${host}`)) ?? siteOf(seen, protocol);
  return { origin: site.origin, hostname: site.hostname, host: site.host, path: prefixIn(headers) };
}

/** Reads `X-Forwarded-Host`; `null` for none, and for a text that is no host with or without a port. */
export function forwardedHost(headers: Pick<Headers, "get">): string | null {
  const given = headers.get("x-forwarded-host")?.toLowerCase() ?? "";
  // A URL has to keep the text as it was written: no user, no path, no address in another notation.
  const url = given.length > LENGTH_MAX || given.includes("..") ? null : URL.parse(`ws://${given}`);
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
