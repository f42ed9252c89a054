import type { Unstable_Config } from "wrangler";
import { ASSETS_BINDING } from "../names.ts";
import { type FrontDoor, SLUICE_PATH } from "../runtime/front-door-contract.ts";

type Assets = NonNullable<Unstable_Config["assets"]>;

/** Front door of a primary Worker (`front-door-contract.ts`), with the `assets` setting that it needs. */
interface AssetsWithFrontDoor {
  readonly assets: Assets | undefined;
  readonly frontDoor: FrontDoor;
}

/**
 * Lets requests for `/__sluice` through to the Worker, and changes nothing else about how its assets are served.
 *
 * A list in `run_worker_first` does that. But such a list also changes `not_found_handling`: with a list, that applies
 * to every request without an asset; without one, only to browsers' navigations, and other requests go to the Worker
 * (miniflare `assets.worker`, `canFetch`). Where a list would change that, the Worker runs first and the generated
 * entry asks the assets as the router would.
 *
 * @param hasCode whether the user's Worker has a `main`.
 * @param asker part that asks the assets where router and entry both can. `sluice serve` uses the entry, since the
 *   router costs more than most requests.
 */
export function openFrontDoor(
  assets: Unstable_Config["assets"],
  hasCode: boolean,
  asker: "router" | "entry" = "router",
): AssetsWithFrontDoor {
  if (assets === undefined) return { assets, frontDoor: { kind: "open" } };
  if (!hasCode) return behindEntry(assets, "assets");
  const first = assets.run_worker_first;
  if (first === true) return { assets, frontDoor: { kind: "open" } };
  const isListHarmless =
    Array.isArray(first) || (asker === "router" && (assets.not_found_handling ?? "none") === "none");
  if (!isListHarmless) return behindEntry(assets, "worker");
  const ours = [SLUICE_PATH, `${SLUICE_PATH}/*`];
  return {
    assets: { ...assets, run_worker_first: [...(Array.isArray(first) ? first : []), ...ours] },
    frontDoor: { kind: "open" },
  };
}

function behindEntry(assets: Assets, fallback: "worker" | "assets"): AssetsWithFrontDoor {
  const binding = assets.binding ?? ASSETS_BINDING;
  return {
    assets: { ...assets, binding, run_worker_first: true },
    frontDoor: { kind: "asks-assets", binding, fallback },
  };
}
