import { registerHooks } from "node:module";

// The broker's classes extend the platform's, in whose place are those of `@sluice/objects`.
const workers = import.meta.resolve("@sluice/objects/workers");
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === "cloudflare:workers" ? workers : specifier, context),
});
await import("./run.ts");
