import type { WorkerConfig } from "@cloudflare/vite-plugin";
import { SLUICE_PATH } from "sluice/generate";

type Assets = WorkerConfig["assets"];

/**
 * Static assets of the entry Worker, with the broker's paths sent to the Worker first.
 *
 * Where `not_found_handling` is in force and no list says which paths go to the Worker first, they stay as they are: as
 * soon as there is a list, that handling would apply to every request without an asset, and the project's own API would
 * be gone.
 */
export function withPathOfBroker(assets: Assets): Assets {
  const first = assets?.run_worker_first;
  if (first === true) return assets;
  if (first === undefined || first === false) {
    const isHarmless = (assets?.not_found_handling ?? "none") === "none";
    return isHarmless ? { ...assets, run_worker_first: [SLUICE_PATH, `${SLUICE_PATH}/*`] } : assets;
  }
  // A rule that another one covers is an error.
  const ours = [SLUICE_PATH, `${SLUICE_PATH}/*`].filter((rule) => !first.some((one) => covers(one, rule)));
  return { ...assets, run_worker_first: [...first, ...ours] };
}

function covers(rule: string, other: string): boolean {
  return rule === other || (rule.endsWith("*") && other.startsWith(rule.slice(0, -1)));
}
