import { existsSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import type { BrokerModule, RecoveryModule } from "./contract.ts";
import { loadSqlite } from "./sqlite.ts";

/** Loads the broker for this process. */
export function loadBroker(): Promise<BrokerModule> {
  return load("broker");
}

/** Loads the module that repairs a data folder before a broker runs on it, and reads its deliveries. */
export function loadRecovery(): Promise<RecoveryModule> {
  return load("recovery");
}

/**
 * Loads a module that is compiled with the types of Workers: from its own bundle, or from TypeScript when the command
 * runs from source.
 */
async function load<Module>(name: string): Promise<Module> {
  loadSqlite();
  const source = new URL(`./${name}.ts`, import.meta.url);
  if (!existsSync(fileURLToPath(source))) {
    process.setSourceMapsEnabled(true);
    return import(new URL(`./standalone/${name}.js`, import.meta.url).href);
  }
  // The bundle contains our replacement of `cloudflare:workers`. Sources are led to it by a hook.
  const workers = import.meta.resolve("@sluice/objects/workers");
  registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier === "cloudflare:workers" ? workers : specifier, context),
  });
  return import(source.href);
}
