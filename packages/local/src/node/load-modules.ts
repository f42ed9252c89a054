import { existsSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import type { BrokerModule, RecoveryModule } from "./contract.ts";
import { loadSqlite } from "./sqlite.ts";

/** The broker for this process. */
export function loadBroker(): Promise<BrokerModule> {
  return load("broker");
}

/** Loads the module that repairs a data folder before a broker runs on it, and reads its deliveries. */
export function loadRecovery(): Promise<RecoveryModule> {
  return load("recovery");
}

/**
 * A module that is typed by the platform's types: in a bundle of its own, or TypeScript when the command runs from
 * source.
 */
async function load<Module>(name: string): Promise<Module> {
  loadSqlite();
  const source = new URL(`./${name}.ts`, import.meta.url);
  if (!existsSync(fileURLToPath(source))) {
    // Its stack traces lead to our sources.
    process.setSourceMapsEnabled(true);
    return import(new URL(`./standalone/${name}.js`, import.meta.url).href);
  }
  // The bundle has it in it.
  const workers = import.meta.resolve("@sluice/objects/workers");
  registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier === "cloudflare:workers" ? workers : specifier, context),
  });
  return import(source.href);
}
