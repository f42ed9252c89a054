import { CliError } from "../errors.ts";
import type { UserWorker } from "../project/worker.ts";

/**
 * What there is to say of Workers with static assets, which workerd alone has nothing to serve with: their code runs, and
 * answers every request.
 *
 * @throws CliError for a Worker whose code reads its assets.
 */
export function assetWarnings(workers: readonly UserWorker[]): string[] {
  return workers.flatMap(({ file, name, wrangler: { assets } }) => {
    if (assets === undefined) return [];
    if (assets.binding !== undefined) {
      throw new CliError(
        `${file}: sluice serve has no static assets to put behind the binding ${assets.binding} of Worker "${name}". ` +
          "Run this Worker with sluice dev.",
      );
    }
    return [`${file}: warning: sluice serve does not serve the static assets of Worker "${name}".`];
  });
}
