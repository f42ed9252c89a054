import { createRequire } from "node:module";

/* Changes to the Miniflare inside Wrangler, made in memory at its start: Wrangler has no options for them. */

/** Options of a Worker, as Wrangler gives them to Miniflare. */
export interface WorkerOptions {
  readonly config: { readonly name?: string; readonly triggers?: readonly unknown[] };
}

/** Worker in the configuration that Miniflare makes for workerd. */
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

/** Parts of Miniflare that are changed in this folder. Where another version has not such a part, nothing is changed. */
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

/** Has Miniflare change a Worker of this name whenever it makes the configuration for workerd. */
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
 * Replaces a statement, once in each module of a Worker that Miniflare or Wrangler brings. Code without it, in another
 * version, stays as it is.
 */
export function changeCode(
  parts: MiniflareParts,
  workerName: string,
  statement: string,
  replacement: string,
): void {
  changeWorker(parts, workerName, ({ modules = [] }) => {
    for (const module of modules) {
      // As a function: `$` means something in a text.
      if (module.esModule !== undefined)
        module.esModule = module.esModule.replace(statement, () => replacement);
    }
  });
}
