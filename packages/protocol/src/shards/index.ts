export * from "./failed-shard.ts";
export * from "./shard-map.ts";
export * from "./shard-names.ts";
export * from "./shard-owner.ts";
