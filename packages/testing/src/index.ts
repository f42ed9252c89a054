export type * from "./api.ts";
export { FAULT_KINDS } from "./api.ts";
export { createQueueRuntime } from "./runtime/create-runtime.ts";
