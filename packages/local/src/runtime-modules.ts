import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { styleText } from "node:util";
import type { ReadyBroker } from "@sluice/project/generate/broker-entry";
import { ownModule, RUNS_FROM_SOURCE } from "@sluice/project/own-module";

/** Returns the absolute paths of our modules for Workers. */
export function runtimeModules(): { readonly worker: string; readonly broker: string } {
  return {
    worker: ownModule(new URL("../../project/src/runtime/worker.ts", import.meta.url), "runtime/worker.js"),
    broker: ownModule(
      new URL("../../broker-worker/src/define-broker.ts", import.meta.url),
      "runtime/broker.js",
    ),
  };
}

/** Returns the bundled broker of `sluice dev`: from the package, or bundled now when the command runs from source. */
export async function readyBroker(): Promise<ReadyBroker> {
  const packed = fileURLToPath(new URL("./runtime/broker-ready.js", import.meta.url));
  const paint = (text: string) => styleText("blue", text);
  if (!RUNS_FROM_SOURCE) return { code: readFileSync(packed, "utf8"), map: `${packed}.map`, paint };
  const { bundleBroker } = await loadBundler();
  return { code: (await bundleBroker(packed)).code, map: null, paint };
}

/** Returns the runtime for the users' Workers: from the package, or bundled now when the command runs from source. */
export async function runtimeCode(): Promise<string> {
  if (!RUNS_FROM_SOURCE) return readFileSync(new URL("./runtime/worker.js", import.meta.url), "utf8");
  const { bundleRuntime } = await loadBundler();
  return bundleRuntime();
}

/** Loads the bundler, which packages do not contain. Its specifier is no literal, so that it is not bundled. */
function loadBundler(): Promise<Bundler> {
  return import(new URL("../bundle-broker.mjs", import.meta.url).href);
}

interface Bundler {
  bundleBroker(outfile: string): Promise<{ code: string }>;
  bundleRuntime(): Promise<string>;
}

/**
 * Returns the folder of our own sources as stack traces of Workers name them, absolute and without a slash at its end.
 * In a package that is the folder that its source maps name.
 */
export function ownSources(): string {
  return resolve(fileURLToPath(new URL(RUNS_FROM_SOURCE ? "../.." : "..", import.meta.url)));
}
