import { readFileSync } from "node:fs";
import { PAGE_FILE } from "@sluice/project/names";
import { ownModule, RUNS_FROM_SOURCE } from "@sluice/project/own-module";

/** Absolute paths of our modules for Workers: TypeScript from source, JavaScript beside the package's bundle. */
export const WORKER_MODULE = ownModule(new URL("./worker/worker.ts", import.meta.url), "worker/worker.js");
export const BROKER_MODULE = ownModule(new URL("./worker/broker.ts", import.meta.url), "worker/broker.js");

/** Reads the archive of the page at `/__sluice/`, which is empty when this runs from source. */
export function pageArchive(): Uint8Array {
  return RUNS_FROM_SOURCE ? new Uint8Array() : readFileSync(new URL(`./${PAGE_FILE}`, import.meta.url));
}
