/** Public API of this package. */
import "./node-version/refuse-old-node.ts";

export type * from "./miniflare/options.ts";
export { sluiceWorkers } from "./miniflare/sluice-workers.ts";
export { getPlatformProxy } from "./platform-proxy/get-platform-proxy.ts";
