import { createRequire } from "node:module";
import type { MiniflareParts } from "./untraced.ts";

/** Service of the Worker by which Wrangler reads the inspector of the user's Workers. */
const INSPECTOR_PROXY = "core:user:InspectorProxyWorker";
/** Its statement for each message of the inspector, which is one for each line that a Worker prints. */
const REQUEST_FOR_EACH = 'this.sendDebugLog("RUNTIME INCOMING MESSAGE", msg);';

/** Keeps Wrangler's proxy of the inspector from a request for each line that a Worker prints. */
export function leaveLinesUnrequested(wrangler: string): void {
  withoutLineRequests(createRequire(wrangler)("miniflare") as MiniflareParts);
}

/**
 * Keeps a loop that prints from taking all descriptors of Wrangler's proxy. It sends each line to Wrangler twice: by
 * its WebSocket, which prints it, and by a request with a connection of its own, for Wrangler's debug log. After some
 * thousand lines it has no descriptor left, and answers no request until it is started again. Only the second goes. A
 * proxy with other code stays as it is.
 */
export function withoutLineRequests({ CORE_PLUGIN }: MiniflareParts): void {
  if (CORE_PLUGIN === undefined) return;
  const { getServices } = CORE_PLUGIN;
  CORE_PLUGIN.getServices = async (...options) => {
    const result = await Reflect.apply(getServices, CORE_PLUGIN, options);
    const services = result === undefined || !("services" in result) ? (result ?? []) : result.services;
    for (const { name, worker } of services) {
      if (name !== INSPECTOR_PROXY) continue;
      for (const module of worker?.modules ?? [])
        if (module.esModule !== undefined) module.esModule = module.esModule.replace(REQUEST_FOR_EACH, "");
    }
    return result;
  };
}
