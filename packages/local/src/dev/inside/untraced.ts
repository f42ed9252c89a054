import { createRequire } from "node:module";
import { SLUICE_PATH } from "@sluice/project/runtime/front-door-contract";

/** Worker as Miniflare is given it. */
interface WorkerOptions {
  readonly config: { readonly name?: string; readonly triggers?: readonly unknown[] };
}

/** Service of a Worker, as Miniflare gives it to workerd. */
interface Service {
  readonly name?: string;
  readonly worker?: {
    streamingTails?: readonly { readonly name?: string }[];
    bindings?: readonly { readonly name?: string; readonly text?: string }[];
    readonly modules?: readonly { esModule?: string }[];
  };
}

/** Result of a plugin of Miniflare's: its services, alone or among others. */
type Services = readonly Service[] | { readonly services: readonly Service[] };

/** The parts of Miniflare that are changed here. A Miniflare that has one of them not traces the broker. */
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
const SERVICE_PREFIX = "core:user:";
/** Service that traces are sent to. */
const COLLECTOR = `${SERVICE_PREFIX}miniflare-observability-collector`;

/** Paths of the broker, which Miniflare brings to it past the first Worker. */
const TRIGGERS = [SLUICE_PATH, `${SLUICE_PATH}/*`].map((path) => ({ type: "fetch", pattern: `*${path}` }));

/** Keeps the broker out of the traces of the Miniflare that a Wrangler uses. */
export function leaveUntraced(broker: string, wrangler: string): void {
  withoutTraces(createRequire(wrangler)("miniflare") as MiniflareParts, broker);
}

/**
 * Keeps the broker out of what Wrangler's local observability traces: a trace of each call to it would cost more than
 * the call, and nothing of the user's is in it. Tail Workers of the user's own stay.
 */
export function withoutTraces({ CORE_PLUGIN, MiniflareOptionsSchema }: MiniflareParts, broker: string): void {
  if (CORE_PLUGIN !== undefined) {
    const { getServices } = CORE_PLUGIN;
    CORE_PLUGIN.getServices = async (...options) => {
      const result = await Reflect.apply(getServices, CORE_PLUGIN, options);
      const services = result === undefined || !("services" in result) ? (result ?? []) : result.services;
      for (const { name, worker } of services) {
        if (name !== `${SERVICE_PREFIX}${broker}` || worker?.streamingTails === undefined) continue;
        worker.streamingTails = worker.streamingTails.filter((tail) => tail.name !== COLLECTOR);
      }
      return result;
    };
  }
  if (MiniflareOptionsSchema !== undefined) {
    const { parse } = MiniflareOptionsSchema;
    MiniflareOptionsSchema.parse = ({ workers, ...others }) => {
      const routed = workers?.map((worker) => (worker.config.name === broker ? withRoute(worker) : worker));
      return parse({ ...others, ...(routed === undefined ? {} : { workers: routed }) });
    };
  }
}

function withRoute(worker: WorkerOptions): WorkerOptions {
  const { config } = worker;
  return { ...worker, config: { ...config, triggers: [...(config.triggers ?? []), ...TRIGGERS] } };
}
