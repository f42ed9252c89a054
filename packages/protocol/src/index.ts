export * from "./body-codec.ts";
export * from "./content-type.ts";
export * from "./errors.ts";
export * from "./limits.ts";
export * from "./packed.ts";
export * from "./rpc.ts";
export * from "./settlement.ts";
export * from "./topology.ts";
