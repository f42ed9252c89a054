/** Public API of the package `sluice`. */
import "@sluice/project/node-version/refuse-old-node";

export type * from "./miniflare/options.ts";
export { sluiceWorkers } from "./miniflare/sluice-workers.ts";
export { getPlatformProxy } from "./platform-proxy/get-platform-proxy.ts";
