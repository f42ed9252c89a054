import type { Unstable_Config } from "wrangler";
import { BROKER_SETTINGS, PROCESS_VARIABLES, setVariables } from "./broker-settings.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Makes the variables of the broker of `sluice dev`: `SLUICE_ENV`, settings from the command's environment, and the
 * hosts that Wrangler puts into requests in the place of `localhost`.
 *
 * @param primary configuration of the primary Worker, whose routes name the hosts; `undefined` without a Worker.
 * @param endpoints names of variables for calls to HTTP endpoints.
 */
export function devVars(
  primary: Unstable_Config | undefined,
  environment: Environment,
  endpoints: readonly string[] = [],
): Record<string, string> {
  const routeHosts = primary === undefined ? [] : routeHostsOf(primary);
  return {
    SLUICE_ENV: "development",
    ...(routeHosts.length === 0 ? {} : { SLUICE_ROUTE_HOSTS: routeHosts.join(",") }),
    ...setVariables([...BROKER_SETTINGS, ...PROCESS_VARIABLES, ...endpoints], environment),
  };
}

/** Lists the hosts that Wrangler may put into requests: the host of `dev.host`, and the hosts of routes. */
function routeHostsOf({ dev, route, routes }: Unstable_Config): string[] {
  const hosts = [route, ...(routes ?? [])].map((one) => {
    if (typeof one !== "object") return hostIn(one);
    return hostIn(one.pattern) ?? ("zone_name" in one ? hostIn(one.zone_name) : null);
  });
  return [...new Set([hostIn(dev?.host), ...hosts].flatMap((host) => host ?? []))];
}

/**
 * Reads the host of a route's pattern, such as `https://*.example.com/shop/*`, as Wrangler does: without the wildcard.
 */
function hostIn(pattern: string | undefined): string | null {
  const [host = ""] = (pattern ?? "").replace(/^https?:\/\//, "").split(/[/:]/);
  const plain = host.replace(/\*\.?/g, "");
  return plain === "" ? null : plain;
}
