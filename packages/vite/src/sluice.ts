import type { PluginConfig } from "@cloudflare/vite-plugin";
import { ConfigError } from "@sluice/config";
import { nameSecretsOnce } from "@sluice/local/report/name-secrets";
import { CliError, withoutStack } from "@sluice/project/errors";
import { changeTerminal } from "./banner.ts";
import { takeCloudflareConfig } from "./cloudflare-config.ts";
import type { PersistState } from "./data.ts";
import { watchOtherMachines } from "./other-machines.ts";
import { refuseUnknownPlugin } from "./plugin-version.ts";
import { isServing } from "./serving.ts";
import { WorkersOfProject } from "./workers-of-project.ts";

/** Error of a build that has read the options for `vite dev`. */
const TAKEN_FOR_SERVER =
  "@sluice/vite took this build for a dev server. Run it with NODE_ENV=production, or leave sluice() out of it: " +
  "plugins: [cloudflare(isBuild ? options : sluice(options))].";

/**
 * Makes options of Cloudflare's Vite plugin with a durable broker for the project's queues.
 *
 * ```ts
 * export default defineConfig({ plugins: [cloudflare(sluice())] });
 * ```
 *
 * Under `vite dev` all Workers of the project send to the broker, and it calls their `queue()` handlers. Messages are
 * stored in `.wrangler/state` (`persistState`), as by `sluice dev`. Under `vite build`, `vite preview` and Vitest the
 * options are returned unchanged.
 *
 * @param options options of `cloudflare()`, default none. With `experimental.newConfig`, Vite's root has to be the
 *   folder that it is started in.
 * @throws Error while Vite reads its configuration, for a configuration of a Worker that is wrong, or whose data folder
 *   another process has, and for a version of Cloudflare's plugin with other options.
 */
export function sluice(options: PluginConfig = {}): PluginConfig {
  if (!isServing(process.argv, process.env.NODE_ENV)) return options;
  withPlainErrors(() => refuseUnknownPlugin(process.cwd()));
  watchOtherMachines();
  // Cloudflare's plugin reads them for each Worker, the broker too, at each of Vite's starts.
  nameSecretsOnce();
  // The server works without these changes, too.
  changeTerminal().catch(() => {});
  const { config: customizer, auxiliaryWorkers = [] } = options;
  const persistState = persistence(options.persistState);
  const { newConfig = null, ...experimental } = options.experimental ?? {};
  const module = withPlainErrors(() => takeCloudflareConfig(newConfig, persistState));
  const own = module === null ? {} : { configPath: module.configPath, experimental };
  const workers = new WorkersOfProject({ ...options, ...own, persistState }, module);
  return {
    ...options,
    ...own,
    persistState,
    config: (config) => withPlainErrors(() => workers.takeEntry(config, customizer)),
    auxiliaryWorkers: [
      ...auxiliaryWorkers.map((worker) => ({
        ...worker,
        config: (...[config, context]: Parameters<Auxiliary>) =>
          withPlainErrors(() =>
            workers.takeAuxiliary(config, "config" in worker ? worker.config : undefined, context),
          ),
      })),
      {
        config: (config) => withPlainErrors(() => workers.makeBroker(config)),
        // Cloudflare's plugin calls this only when it builds.
        devOnly: () => {
          throw new Error(TAKEN_FOR_SERVER);
        },
      },
    ],
  };
}

/** Calls a function, and throws its errors about the user's files without their stack. */
function withPlainErrors<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof CliError)) throw error;
    throw withoutStack(error);
  }
}

/** Folder of all data. Cloudflare's plugin reads the path after all configurations, when it is absolute. */
function persistence(given: PluginConfig["persistState"] = true): PersistState {
  return given === false ? false : { path: given === true ? ".wrangler/state" : given.path };
}

type AuxiliaryWorker = NonNullable<PluginConfig["auxiliaryWorkers"]>[number];
type Auxiliary = Extract<
  Extract<AuxiliaryWorker, { config: unknown }>["config"],
  (...args: never) => unknown
>;
