import { createRequire } from "node:module";

/** Worker as Miniflare is given it. */
export interface WorkerOptions {
  readonly config: { readonly name?: string; readonly triggers?: readonly unknown[] };
}

/** Worker as Miniflare gives it to workerd. */
interface ServiceWorker {
  streamingTails?: readonly { readonly name?: string }[];
  bindings?: readonly { readonly name?: string; readonly text?: string }[];
  readonly modules?: readonly { esModule?: string }[];
}

interface Service {
  readonly name?: string;
  readonly worker?: ServiceWorker;
}

/** Result of a plugin of Miniflare's: its services, alone or among others. */
type Services = readonly Service[] | { readonly services: readonly Service[] };

/** The parts of Miniflare that are changed here. A Miniflare that has one of them not stays as it is. */
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

/** Loads the Miniflare that a Wrangler uses. */
export function miniflareOf(wrangler: string): MiniflareParts {
  return createRequire(wrangler)("miniflare") as MiniflareParts;
}

/** Changes a Worker in what Miniflare hands to workerd, each time that it does. */
export function changeWorker(
  { CORE_PLUGIN }: MiniflareParts,
  worker: string,
  change: (worker: ServiceWorker) => void,
): void {
  if (CORE_PLUGIN === undefined) return;
  const { getServices } = CORE_PLUGIN;
  CORE_PLUGIN.getServices = async (...options) => {
    const result = await Reflect.apply(getServices, CORE_PLUGIN, options);
    const services = result === undefined || !("services" in result) ? (result ?? []) : result.services;
    for (const service of services) {
      if (service.name === `${SERVICE_PREFIX}${worker}` && service.worker !== undefined)
        change(service.worker);
    }
    return result;
  };
}

/** Replaces a statement in the code of a Worker of Miniflare's or Wrangler's. Other code stays as it is. */
export function changeCode(parts: MiniflareParts, worker: string, statement: string, by: string): void {
  changeWorker(parts, worker, ({ modules = [] }) => {
    for (const module of modules) {
      if (module.esModule !== undefined) module.esModule = module.esModule.replace(statement, () => by);
    }
  });
}
