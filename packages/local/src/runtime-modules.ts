import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { styleText } from "node:util";
import type { ReadyBroker } from "@sluice/project/generate/broker-entry";
import { ownModule, RUNS_FROM_SOURCE } from "@sluice/project/own-module";

/** Our modules for Workers, as absolute paths. */
export function runtimeModules(): { readonly worker: string; readonly broker: string } {
  return {
    worker: ownModule(new URL("../../project/src/runtime/worker.ts", import.meta.url), "runtime/worker.js"),
    broker: ownModule(
      new URL("../../broker-worker/src/define-broker.ts", import.meta.url),
      "runtime/broker.js",
    ),
  };
}

/** The broker of `sluice dev`: of the package, or bundled anew when the command runs from source. */
export async function readyBroker(): Promise<ReadyBroker> {
  const packed = fileURLToPath(new URL("./runtime/broker-ready.js", import.meta.url));
  const paint = (text: string) => styleText("blue", text);
  if (!RUNS_FROM_SOURCE) return { code: readFileSync(packed, "utf8"), map: `${packed}.map`, paint };
  const { bundleBroker } = await loadBundler();
  return { code: (await bundleBroker(packed)).code, map: null, paint };
}

/** The runtime for the users' Workers: of the package, or bundled anew when this runs from source. */
export async function runtimeCode(): Promise<string> {
  if (!RUNS_FROM_SOURCE) return readFileSync(new URL("./runtime/worker.js", import.meta.url), "utf8");
  const { bundleRuntime } = await loadBundler();
  return bundleRuntime();
}

/** The bundler, which packages do not have: its specifier is no literal, so that no bundle gets it. */
function loadBundler(): Promise<Bundler> {
  return import(new URL("../bundle-broker.mjs", import.meta.url).href);
}

interface Bundler {
  bundleBroker(outfile: string): Promise<{ code: string }>;
  bundleRuntime(): Promise<string>;
}

/**
 * Folder of our own sources as stack traces of Workers name them, absolute and without a slash at the end: of a package
 * that which its source maps say.
 */
export function ownSources(): string {
  return resolve(fileURLToPath(new URL(RUNS_FROM_SOURCE ? "../.." : "..", import.meta.url)));
}
