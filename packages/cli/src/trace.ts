export * from "@sluice/project/runtime/trace";
