import type { PublicAddressSetting } from "@sluice/protocol";

/**
 * Access to the HTTP APIs of a broker, by the callers that it admits.
 *
 * - `open`: everybody who reaches the port; on a developer's machine. `hosts` are further names that it is reached by;
 *   `routeHosts` are those of the Worker's routes, which `wrangler dev` puts in the place of the name that was asked
 *   for.
 * - `tokens`: who brings one of them, or a token that the broker keeps. `processToken` is that of the process that runs
 *   the broker, which nobody else knows. Default: none.
 * - `closed`: nobody but who brings a token that the broker keeps, for the reason that is given: it is deployed and
 *   nobody has set any tokens.
 */
export type Access = (
  | { readonly kind: "open"; readonly hosts: readonly string[]; readonly routeHosts: readonly string[] }
  | { readonly kind: "tokens"; readonly tokens: readonly string[]; readonly processToken?: string }
  | { readonly kind: "closed"; readonly reason: string }
) & {
  /** Where the broker's own page is if a proxy stands before it. Default: at the address that a request names. */
  readonly publicAddress?: PublicAddressSetting;
};
