import type { PluginConfig } from "@cloudflare/vite-plugin";
import { ConfigError } from "@sluice/config";
import { CliError } from "@sluice/project/errors";
import { nameDashboard } from "./banner.ts";
import { watchOtherMachines } from "./other-machines.ts";
import { isServing } from "./serving.ts";
import { WorkersOfProject } from "./workers-of-project.ts";

/** A build has read what is meant for `vite dev` alone. */
const TAKEN_FOR_SERVER =
  "@sluice/vite took this build for a dev server. Run it with NODE_ENV=production, or leave sluice() out of it: " +
  "plugins: [cloudflare(isBuild ? options : sluice(options))].";

/**
 * Options of Cloudflare's Vite plugin with a durable broker for the project's queues.
 *
 * ```ts
 * export default defineConfig({ plugins: [cloudflare(sluice())] });
 * ```
 *
 * Under `vite dev` all Workers of the project send to the broker, and it calls their `queue()` handlers. Messages lie
 * in `.wrangler/state` (`persistState`), where `sluice dev` has them too. What is wrong in a configuration is thrown
 * when Vite reads it. Under `vite build`, `vite preview` and Vitest the options come back as they are.
 *
 * @param options what `cloudflare()` takes. `experimental.newConfig` cannot be used with it: such a configuration takes
 *   no Workers besides its own.
 */
export function sluice(options: PluginConfig = {}): PluginConfig {
  if (!isServing(process.argv, process.env.NODE_ENV)) return options;
  watchOtherMachines();
  // Without it the server is the same.
  nameDashboard().catch(() => {});
  const { config: customizer, auxiliaryWorkers = [] } = options;
  const persistState = persistence(options.persistState);
  const workers = new WorkersOfProject({ ...options, persistState });
  return {
    ...options,
    persistState,
    config: (config) => inWords(() => workers.takeEntry(config, customizer)),
    auxiliaryWorkers: [
      ...auxiliaryWorkers.map((worker) => ({
        ...worker,
        config: (...[config, context]: Parameters<Auxiliary>) =>
          inWords(() =>
            workers.takeAuxiliary(config, "config" in worker ? worker.config : undefined, context),
          ),
      })),
      {
        config: (config) => inWords(() => workers.makeBroker(config)),
        // Cloudflare's plugin asks this when it builds, and never else.
        devOnly: () => {
          throw new Error(TAKEN_FOR_SERVER);
        },
      },
    ],
  };
}

/**
 * Vite prints the whole of an error. Where the user's files have to be changed, the calls that led here are in the way
 * of the sentence that says so.
 */
function inWords(run: () => void): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof CliError)) throw error;
    throw Object.assign(new Error(error.message), { stack: error.message });
  }
}

/**
 * Where everything is kept. Cloudflare's plugin asks for the path when all configurations have been read: by then it is
 * absolute.
 */
function persistence(given: PluginConfig["persistState"] = true): false | { path: string } {
  return given === false ? false : { path: given === true ? ".wrangler/state" : given.path };
}

type AuxiliaryWorker = NonNullable<PluginConfig["auxiliaryWorkers"]>[number];
type Auxiliary = Extract<
  Extract<AuxiliaryWorker, { config: unknown }>["config"],
  (...args: never) => unknown
>;
