import { SLUICE_PATH } from "@sluice/project/runtime/front-door-contract";
import {
  changeWorker,
  type MiniflareParts,
  miniflareOf,
  SERVICE_PREFIX,
  type WorkerOptions,
} from "./miniflare-parts.ts";

/** Service that traces are sent to. */
const COLLECTOR = `${SERVICE_PREFIX}miniflare-observability-collector`;

/** Paths of the broker, which Miniflare brings to it past the first Worker. */
const TRIGGERS = [SLUICE_PATH, `${SLUICE_PATH}/*`].map((path) => ({ type: "fetch", pattern: `*${path}` }));

/** Keeps the broker out of the traces of the Miniflare that a Wrangler uses. */
export function leaveUntraced(broker: string, wrangler: string): void {
  withoutTraces(miniflareOf(wrangler), broker);
}

/**
 * Keeps the broker out of what Wrangler's local observability traces: a trace of each call to it would cost more than
 * the call, and nothing of the user's is in it. Tail Workers of the user's own stay.
 */
export function withoutTraces(parts: MiniflareParts, broker: string): void {
  changeWorker(parts, broker, (worker) => {
    if (worker.streamingTails === undefined) return;
    worker.streamingTails = worker.streamingTails.filter((tail) => tail.name !== COLLECTOR);
  });
  const { MiniflareOptionsSchema } = parts;
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
