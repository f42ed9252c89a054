export * from "./bill.ts";
export * from "./costs.ts";
export * from "./month.ts";
export * from "./others.ts";
export * from "./prices.ts";
export * from "./queue-cost.ts";
