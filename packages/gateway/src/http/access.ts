/**
 * Who may use the HTTP APIs of a broker.
 *
 * - `open`: everybody who reaches the port; on a developer's machine. `hosts` are further names that it is reached by;
 *   `routeHosts` are those of the Worker's routes, which `wrangler dev` puts in the place of the name that was asked
 *   for.
 * - `tokens`: who brings one of them.
 * - `closed`: nobody, for the reason that is given: the broker is deployed and has no tokens.
 */
export type Access =
  | { readonly kind: "open"; readonly hosts: readonly string[]; readonly routeHosts: readonly string[] }
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
