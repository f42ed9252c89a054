import { variableText } from "./variable-text.ts";

/** Where clients reach a broker that stands behind a proxy. */
export interface PublicUrl {
  /** Such as `https://queues.example.com`. */
  readonly origin: string;
  readonly hostname: string;
  /** The host as a request names it, with a port that is not the protocol's own. */
  readonly host: string;
  /** Prefix that the proxy removes from the paths of requests, without a slash at its end; empty for none. */
  readonly path: string;
}

/**
 * Source of the address where clients reach a broker: a setting, the headers that a trusted proxy adds to each request
 * (`forwarded`), or the address that a request names (`null`).
 */
export type PublicAddressSetting = PublicUrl | "forwarded" | null;

/**
 * Reads `SLUICE_PUBLIC_URL` and, where that is not set, `SLUICE_TRUST_PROXY`.
 *
 * @throws RangeError as `parsePublicUrl` and `parseTrustProxy`.
 */
export function publicAddressIn(env: Readonly<Record<string, unknown>>): PublicAddressSetting {
  const url = parsePublicUrl(variableText(env.SLUICE_PUBLIC_URL));
  return url ?? (parseTrustProxy(variableText(env.SLUICE_TRUST_PROXY)) ? "forwarded" : null);
}

/**
 * Reads `SLUICE_TRUST_PROXY`.
 *
 * @throws RangeError for what is neither `true` nor `false`.
 */
export function parseTrustProxy(text: string): boolean {
  if (["", "true", "false"].includes(text)) return text === "true";
  throw new RangeError("SLUICE_TRUST_PROXY must be true or false");
}

/**
 * Reads `SLUICE_PUBLIC_URL`; `null` where it is not set.
 *
 * @throws RangeError for what is no absolute `http:` or `https:` URL, or says more than an address.
 */
export function parsePublicUrl(text: string | undefined): PublicUrl | null {
  const given = (text ?? "").trim();
  if (given === "") return null;
  const url = URL.parse(given);
  const isWeb = url !== null && (url.protocol === "https:" || url.protocol === "http:");
  // The URL parser takes "https:host" and "https:/host" for "https://host".
  const isAbsolute = /^https?:\/\//i.test(given);
  const hasMore = /[?#]/.test(given) || url?.username !== "" || url.password !== "";
  if (!isWeb || !isAbsolute || hasMore) throw new RangeError(NO_PUBLIC_URL);
  const { origin, hostname, host, pathname } = url;
  return { origin, hostname, host, path: pathname.replace(/\/+$/, "") };
}

const NO_PUBLIC_URL =
  "SLUICE_PUBLIC_URL must be an absolute URL of http: or https: without a user, a query and a fragment, such as " +
  "https://queues.example.com";

/** Whether a proxy leads others to a broker with these variables, whatever address it listens on itself. */
export function isBehindProxy(env: Readonly<Record<string, unknown>>): boolean {
  return isSet(env.SLUICE_PUBLIC_URL) || variableText(env.SLUICE_TRUST_PROXY) === "true";
}

/**
 * Whether a broker with these variables calls HTTP endpoints at private addresses: in development, and where it is open
 * to its own machine. A broker that asks for tokens or keys, or names a proxy, does not: the proxy's clients must not
 * reach into its network.
 */
export function callsPrivateHosts(env: Readonly<Record<string, unknown>>): boolean {
  if (env.SLUICE_ENV === "development") return true;
  if (env.SLUICE_ENV !== "local" || isBehindProxy(env)) return false;
  return !isSet(env.SLUICE_API_TOKENS) && !isSet(env.SLUICE_AWS_ACCESS_KEYS);
}

function isSet(variable: unknown): boolean {
  return variableText(variable) !== "";
}
