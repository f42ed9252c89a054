import type { Unstable_Config } from "wrangler";

/** Variables of the environment that `sluice dev` hands on to the broker. */
const HANDED_ON = ["SLUICE_API_TOKENS", "SLUICE_ALLOWED_HOSTS"] as const;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What the broker of `sluice dev` is told: that it is on a developer's machine, who may use its HTTP API where somebody
 * has said so, and which hosts Wrangler puts in the place of `localhost`.
 *
 * @param primary the primary Worker's configuration, if there is a Worker: its routes name the hosts.
 */
export function devVars(
  primary: Unstable_Config | undefined,
  environment: Environment,
): Record<string, string> {
  const routeHosts = primary === undefined ? [] : routeHostsOf(primary);
  const handedOn = HANDED_ON.map((name): [string, string] => [name, environment[name] ?? ""]);
  return {
    SLUICE_ENV: "development",
    ...(routeHosts.length === 0 ? {} : { SLUICE_ROUTE_HOSTS: routeHosts.join(",") }),
    ...Object.fromEntries(handedOn.filter(([, value]) => value !== "")),
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

/** The host of a route's pattern, such as `https://*.example.com/shop/*`, as Wrangler reads it: without the wildcard. */
function hostIn(pattern: string | undefined): string | null {
  const [host = ""] = (pattern ?? "").replace(/^https?:\/\//, "").split(/[/:]/);
  const plain = host.replace(/\*\.?/g, "");
  return plain === "" ? null : plain;
}
