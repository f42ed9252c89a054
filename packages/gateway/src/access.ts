/**
 * Who may use the HTTP APIs of a broker.
 *
 * - `open`: everybody who reaches the port; on a developer's machine. `hosts` are further names that it is reached by.
 * - `tokens`: who brings one of them.
 * - `closed`: nobody, for the reason that is given: the broker is deployed and has no tokens.
 */
export type Access =
  | { readonly kind: "open"; readonly hosts: readonly string[] }
  | { readonly kind: "tokens"; readonly tokens: readonly string[] }
  | { readonly kind: "closed"; readonly reason: string };

/** Whether a token is one of those that are accepted. Takes the same time whichever character is wrong. */
export async function isToken(
  { tokens }: Extract<Access, { kind: "tokens" }>,
  token: string,
): Promise<boolean> {
  const [given, ...accepted] = await Promise.all([token, ...tokens].map(digestOf));
  return accepted.some((digest) => given !== undefined && isSame(given, digest));
}

async function digestOf(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  let difference = 0;
  for (const [i, byte] of a.entries()) difference |= byte ^ (b[i] ?? 0);
  return difference === 0;
}

/** Names that no public name server answers for, so that no page of somebody else's can come under them. */
const PRIVATE_NAMES = /(^|\.)(localhost|local|internal|test|home\.arpa)$/;

/**
 * Why a request to an open broker is refused for the host it names; `null` if it is not.
 *
 * A page of any site can let its own name point at 127.0.0.1 and then reads this broker as its own (DNS rebinding). That
 * needs a public name: addresses, names without a dot (a container's) and private ones are nobody else's. So `--ip 0.0.0.0`
 * and containers keep working, and a tunnel's name has to be listed.
 */
export function refusedHost(access: Access, url: string): string | null {
  if (access.kind !== "open") return null;
  const { hostname } = new URL(url);
  const isAddress = /^[\d.]+$|^\[/.test(hostname);
  if (
    isAddress ||
    !hostname.includes(".") ||
    PRIVATE_NAMES.test(hostname) ||
    access.hosts.includes(hostname)
  ) {
    return null;
  }
  return `This broker is open to this machine and does not answer under the name ${hostname}. If that is yours, list it in SLUICE_ALLOWED_HOSTS.`;
}
