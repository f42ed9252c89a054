export * from "@sluice/local";
