/** Public API of this package. */
export * from "@sluice/local";
