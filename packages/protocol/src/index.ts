export * from "./binding-values.ts";
export * from "./errors.ts";
export * from "./filter/filter.ts";
export * from "./limits.ts";
export * from "./rpc/index.ts";
export * from "./topology/endpoint-variables.ts";
export type { RetryPolicySettings } from "./topology/retry-policy.ts";
export * from "./topology/topology.ts";
export * from "./wire/index.ts";
