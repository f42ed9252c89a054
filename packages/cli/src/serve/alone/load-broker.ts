import { existsSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import type { BrokerModule } from "./contract.ts";

/** The broker for this process: in a bundle of its own, or TypeScript when the command runs from source. */
export async function loadBroker(): Promise<BrokerModule> {
  const source = new URL("./broker.ts", import.meta.url);
  if (!existsSync(fileURLToPath(source))) {
    // Its stack traces lead to our sources.
    process.setSourceMapsEnabled(true);
    return withoutSqliteWarning(() => import(new URL("./alone/broker.js", import.meta.url).href));
  }
  // The bundle has it in it.
  const workers = import.meta.resolve("@sluice/objects/workers");
  registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier === "cloudflare:workers" ? workers : specifier, context),
  });
  return withoutSqliteWarning(() => import(source.href));
}

/** Node.js 22 says at the first use of its SQLite that it is experimental: nothing that users of a broker could act on. */
async function withoutSqliteWarning<Result>(work: () => Promise<Result>): Promise<Result> {
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error, ...more: unknown[]) => {
    if (!/^SQLite is an experimental feature/.test(String(warning))) {
      Reflect.apply(emitWarning, process, [warning, ...more]);
    }
  };
  try {
    return await work();
  } finally {
    process.emitWarning = emitWarning;
  }
}
