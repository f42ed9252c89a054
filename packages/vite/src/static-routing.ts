import type { WorkerConfig } from "@cloudflare/vite-plugin";
import { ASSETS_BINDING } from "@sluice/project/names";
import { type FrontDoor, SLUICE_PATH } from "@sluice/project/runtime/front-door-contract";

type Routed = Pick<WorkerConfig, "assets" | "compatibility_date" | "compatibility_flags">;

/** How requests for the broker's paths reach the entry Worker, with the configuration that it needs. */
interface RoutingWithBroker extends Pick<WorkerConfig, "assets" | "compatibility_flags"> {
  readonly frontDoor: FrontDoor;
}

/** With this flag, or since that date, `not_found_handling` comes before the Worker for navigations. */
const NAVIGATION_ASSETS = "assets_navigation_prefers_asset_serving";
const NO_NAVIGATION_ASSETS = "assets_navigation_has_no_effect";
const NAVIGATION_ASSETS_SINCE = "2025-04-01";

/**
 * Lets the broker's paths through to the entry Worker and changes nothing else about how its assets are served.
 *
 * A list in `run_worker_first` does so. With `not_found_handling` and no list there can be none, because the handling
 * would then answer every request without an asset, and the project's own API would be gone. For a single-page
 * application the navigations go to the Worker instead, whose entry asks the assets for all others. With `404-page`
 * nothing is changed.
 */
export function routingWithBroker({
  assets,
  compatibility_date: date,
  compatibility_flags: flags,
}: Routed): RoutingWithBroker {
  const open = { assets, compatibility_flags: flags, frontDoor: { kind: "open" } } as const;
  const first = assets?.run_worker_first;
  if (first === true) return open;
  if (Array.isArray(first)) {
    // A rule that another one covers would be an error.
    const ours = [SLUICE_PATH, `${SLUICE_PATH}/*`].filter((rule) => !first.some((one) => covers(one, rule)));
    return { ...open, assets: { ...assets, run_worker_first: [...first, ...ours] } };
  }
  const handling = assets?.not_found_handling ?? "none";
  if (handling === "none") {
    return { ...open, assets: { ...assets, run_worker_first: [SLUICE_PATH, `${SLUICE_PATH}/*`] } };
  }
  if (handling !== "single-page-application" || !takesNavigations(date, flags)) return open;
  const binding = assets?.binding ?? ASSETS_BINDING;
  return {
    assets: { ...assets, binding },
    compatibility_flags: [...flags.filter((flag) => flag !== NAVIGATION_ASSETS), NO_NAVIGATION_ASSETS],
    frontDoor: { kind: "asks-assets-for-pages", binding },
  };
}

function takesNavigations(date: string | undefined, flags: readonly string[]): boolean {
  if (flags.includes(NO_NAVIGATION_ASSETS)) return false;
  return flags.includes(NAVIGATION_ASSETS) || (date ?? "") >= NAVIGATION_ASSETS_SINCE;
}

function covers(rule: string, other: string): boolean {
  return rule === other || (rule.endsWith("*") && other.startsWith(rule.slice(0, -1)));
}
