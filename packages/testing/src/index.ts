import "@sluice/project/node-version/refuse-old-node";

export type * from "./api.ts";
export { FAULT_KINDS } from "./api.ts";
export { BrokenHistoryError, explore, type Report } from "./explore/explore.ts";
export type { ExploreOptions } from "./explore/explore-options.ts";
export type { Random } from "./explore/random.ts";
export { createQueueRuntime } from "./runtime/create-runtime.ts";
