import type { Unstable_Config } from "wrangler";
import { LAST_END_VARIABLE } from "../names.ts";
import { BROKER_SETTINGS, setVariables } from "./broker-settings.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Makes the variables of the broker of `sluice dev`: that it is on a developer's machine, who may use its HTTP API
 * where the environment says so, and which hosts Wrangler puts in the place of `localhost`.
 *
 * @param primary the primary Worker's configuration, if there is a Worker: its routes name the hosts.
 * @param endpoints names of the variables that HTTP endpoints are called with.
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
    ...setVariables([...BROKER_SETTINGS, LAST_END_VARIABLE, ...endpoints], environment),
  };
}

/** Hosts that Wrangler can let a request look as if it were sent to: that of `dev.host`, or of a route. */
function routeHostsOf({ dev, route, routes }: Unstable_Config): string[] {
  const hosts = [route, ...(routes ?? [])].map((one) => {
    if (typeof one !== "object") return hostIn(one);
    return hostIn(one.pattern) ?? ("zone_name" in one ? hostIn(one.zone_name) : null);
  });
  return [...new Set([hostIn(dev?.host), ...hosts].flatMap((host) => host ?? []))];
}

/**
 * The host of a route's pattern, such as `https://*.example.com/shop/*`, as Wrangler reads it: without the wildcard.
 */
function hostIn(pattern: string | undefined): string | null {
  const [host = ""] = (pattern ?? "").replace(/^https?:\/\//, "").split(/[/:]/);
  const plain = host.replace(/\*\.?/g, "");
  return plain === "" ? null : plain;
}
