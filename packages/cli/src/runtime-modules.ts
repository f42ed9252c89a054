import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { styleText } from "node:util";
import type { ReadyBroker } from "./generate/broker-entry.ts";
import { ownModule } from "./own-module.ts";

/** Our modules for Workers, as absolute paths. */
export function runtimeModules(): { readonly worker: string; readonly broker: string } {
  return {
    worker: ownModule(new URL("./runtime/worker.ts", import.meta.url), "runtime/worker.js"),
    broker: ownModule(new URL("./runtime/broker.ts", import.meta.url), "runtime/broker.js"),
  };
}

/** The broker of `sluice dev`: of the package, or bundled anew when the command runs from source. */
export async function readyBroker(): Promise<ReadyBroker> {
  const packed = fileURLToPath(new URL("./runtime/broker-ready.js", import.meta.url));
  const paint = (text: string) => styleText("blue", text);
  if (existsSync(packed)) return { code: readFileSync(packed, "utf8"), map: `${packed}.map`, paint };
  const { bundleBroker } = (await import(new URL("../bundle-broker.mjs", import.meta.url).href)) as {
    bundleBroker(outfile: string): Promise<{ code: string }>;
  };
  return { code: (await bundleBroker(packed)).code, map: null, paint };
}

/** The runtime for the users' Workers: of the package, or bundled anew when this runs from source. */
export async function runtimeCode(): Promise<string> {
  const packed = fileURLToPath(new URL("./runtime/worker.js", import.meta.url));
  if (existsSync(packed)) return readFileSync(packed, "utf8");
  const { bundleRuntime } = (await import(new URL("../bundle-broker.mjs", import.meta.url).href)) as {
    bundleRuntime(): Promise<string>;
  };
  return bundleRuntime();
}

/**
 * Folders of our own sources as stack traces of Workers name them, absolute: of the package those that its source maps
 * say.
 */
export function ownSources(): readonly string[] {
  const isSource = existsSync(fileURLToPath(new URL("./runtime/worker.ts", import.meta.url)));
  const folders = isSource ? ["../..", "../../../apps/broker"] : [".."];
  return folders.map((folder) => resolve(fileURLToPath(new URL(".", import.meta.url)), folder));
}
