import { SLUICE_PATH } from "@sluice/project/runtime/front-door-contract";
import {
  changeWorker,
  type MiniflareParts,
  miniflareOf,
  SERVICE_PREFIX,
  type WorkerOptions,
} from "./miniflare-parts.ts";

/** Miniflare's service that traces are sent to. */
const COLLECTOR = `${SERVICE_PREFIX}miniflare-observability-collector`;

/** Routes by which Miniflare sends requests for the broker's paths to the broker, past the first Worker. */
const TRIGGERS = [SLUICE_PATH, `${SLUICE_PATH}/*`].map((path) => ({ type: "fetch", pattern: `*${path}` }));

/** Applies `withoutTraces` to the Miniflare of a Wrangler. */
export function leaveUntraced(broker: string, wrangler: string): void {
  withoutTraces(miniflareOf(wrangler), broker);
}

/**
 * Keeps the broker out of the traces of Wrangler's local observability. Tracing a call to the broker would cost more
 * than the call, and would show nothing of the user's code. The user's own tail Workers stay.
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
