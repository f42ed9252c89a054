import { createRequire } from "node:module";

/* Changes the Miniflare inside Wrangler, in memory at its start: Wrangler has no options for these changes. */

/** Options of a Worker, as Wrangler gives them to Miniflare. */
export interface WorkerOptions {
  readonly config: { readonly name?: string; readonly triggers?: readonly unknown[] };
}

/** Worker in the configuration that Miniflare generates for workerd. */
interface WorkerdWorker {
  streamingTails?: readonly { readonly name?: string }[];
  bindings?: readonly { readonly name?: string; readonly text?: string }[];
  readonly modules?: readonly { esModule?: string }[];
}

interface Service {
  readonly name?: string;
  readonly worker?: WorkerdWorker;
}

/** Result of a plugin of Miniflare's: its services, or an object that has them. */
type Services = readonly Service[] | { readonly services: readonly Service[] };

/** Parts of Miniflare that this folder changes. A version without one of them stays unchanged there. */
export interface MiniflareParts {
  /** Makes the services of Workers. */
  readonly CORE_PLUGIN?: {
    getServices(...options: unknown[]): Promise<Services | undefined> | Services | undefined;
  };
  /** Reads the options of all Workers. */
  readonly MiniflareOptionsSchema?: { parse(options: MiniflareOptions): unknown };
}

interface MiniflareOptions {
  readonly workers?: readonly WorkerOptions[];
}

/** Prefix of the name of each Worker's service. */
export const SERVICE_PREFIX = "core:user:";

/**
 * Loads the Miniflare that a Wrangler uses.
 *
 * @param wranglerMain absolute path of Wrangler's main module.
 */
export function miniflareOf(wranglerMain: string): MiniflareParts {
  return createRequire(wranglerMain)("miniflare") as MiniflareParts;
}

/** Applies `change` to the Worker of this name whenever Miniflare generates the configuration for workerd. */
export function changeWorker(
  { CORE_PLUGIN }: MiniflareParts,
  workerName: string,
  change: (worker: WorkerdWorker) => void,
): void {
  if (CORE_PLUGIN === undefined) return;
  const { getServices } = CORE_PLUGIN;
  CORE_PLUGIN.getServices = async (...options) => {
    const result = await Reflect.apply(getServices, CORE_PLUGIN, options);
    for (const service of servicesIn(result)) {
      if (service.name === `${SERVICE_PREFIX}${workerName}` && service.worker !== undefined)
        change(service.worker);
    }
    return result;
  };
}

function servicesIn(result: Services | undefined): readonly Service[] {
  if (result === undefined) return [];
  return "services" in result ? result.services : result;
}

/**
 * Replaces a statement, once in each module, in a Worker that Miniflare or Wrangler comes with. Another version's code
 * without the statement stays as it is.
 */
export function changeCode(
  parts: MiniflareParts,
  workerName: string,
  statement: string,
  replacement: string,
): void {
  changeWorker(parts, workerName, ({ modules = [] }) => {
    for (const module of modules) {
      // A function, since `$` is special in a replacement string.
      if (module.esModule !== undefined)
        module.esModule = module.esModule.replace(statement, () => replacement);
    }
  });
}
