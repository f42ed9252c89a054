import { registerHooks } from "node:module";

// The broker's classes extend those of `cloudflare:workers`: `@sluice/objects` has replacements for Node.js.
const workers = import.meta.resolve("@sluice/objects/workers");
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === "cloudflare:workers" ? workers : specifier, context),
});
await import("./run.ts");
