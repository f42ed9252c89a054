import type { PublicAddressSetting } from "@sluice/protocol";

/**
 * Access to the HTTP APIs of a broker, by the callers that it admits.
 *
 * - `open`: any client that reaches the port; on a developer's machine. `hosts` are further names that it is reached
 *   by; `routeHosts` are those of the Worker's routes, which `wrangler dev` puts in the place of the name in the
 *   request.
 * - `tokens`: clients with one of them, or with a token that the broker keeps. `processToken` is known to the process
 *   that runs the broker alone. Default: none.
 * - `closed`: only clients with a token that the broker keeps, for the reason that is given: it is deployed without any
 *   tokens in its configuration.
 */
export type Access = (
  | { readonly kind: "open"; readonly hosts: readonly string[]; readonly routeHosts: readonly string[] }
  | { readonly kind: "tokens"; readonly tokens: readonly string[]; readonly processToken?: string }
  | { readonly kind: "closed"; readonly reason: string }
) & {
  /** Address of the broker's own page behind a proxy. Default: the address that a request names. */
  readonly publicAddress?: PublicAddressSetting;
};
