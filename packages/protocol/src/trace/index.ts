export * from "./opentelemetry.ts";
export * from "./trace-context.ts";
export * from "./trace-of-message.ts";
export * from "./trace-settings.ts";
