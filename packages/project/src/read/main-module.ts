import { basename } from "node:path";
import { CliError } from "../errors.ts";
import { exportsOf } from "../wrangler/wrangler-config.ts";

/** Kind of a Worker's `main`, by the exports that the generated entry can re-export. */
export type MainModule =
  /** No code: a Worker of static assets. */
  | { readonly kind: "none" }
  /** A module with a default export: an object of handlers or a class. */
  | { readonly kind: "default"; readonly file: string }
  /** A module without a default export, with Durable Objects, entrypoints or Workflows. */
  | {
      readonly kind: "named-only";
      readonly file: string;
      /** Names of its exports, those of `export *` aside. */
      readonly names: readonly [string, ...string[]];
    };

/**
 * Finds out what the user's module exports. A file that does not compile, or is missing because a custom build has yet
 * to write it, counts as one with a default export: Wrangler reports what is wrong with it.
 *
 * @throws CliError for a Python Worker, and for a module without visible exports, which Wrangler takes for a service
 *   worker. Neither can get our bindings.
 */
export async function readMainModule(file: string | undefined, workerName: string): Promise<MainModule> {
  if (file === undefined) return { kind: "none" };
  if (file.endsWith(".py")) {
    throw new CliError(`Worker "${workerName}" is written in Python (${file}), which Sluice cannot run.`);
  }
  const exported = await exportsOf(file);
  if (exported === null || exported.includes("default")) return { kind: "default", file };
  const [name, ...names] = exported;
  if (name !== undefined) return { kind: "named-only", file, names: [name, ...names] };
  throw new CliError(
    `Worker "${workerName}" exports nothing from ${basename(file)}: it is in the service worker format. Sluice needs ` +
      "an ES module (export default { fetch, queue, ... }), see " +
      "https://developers.cloudflare.com/workers/reference/migrate-to-module-workers/",
  );
}
