import { readFileSync } from "node:fs";
import { PAGE_FILE } from "@sluice/project/names";
import { ownModule, RUNS_FROM_SOURCE } from "@sluice/project/own-module";

/** Our modules for Workers, absolute: TypeScript when this runs from source, JavaScript beside the package's bundle. */
export const WORKER_MODULE = ownModule(new URL("./worker/worker.ts", import.meta.url), "worker/worker.js");
export const BROKER_MODULE = ownModule(new URL("./worker/broker.ts", import.meta.url), "worker/broker.js");

/** The page at `/__sluice/` as an archive. There is none when this runs from source. */
export function pageArchive(): Uint8Array {
  return RUNS_FROM_SOURCE ? new Uint8Array() : readFileSync(new URL(`./${PAGE_FILE}`, import.meta.url));
}
