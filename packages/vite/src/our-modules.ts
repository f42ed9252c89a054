import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PAGE_FILE } from "sluice/generate";

/** Our modules for Workers, absolute: TypeScript when this runs from source, JavaScript beside the package's bundle. */
export const WORKER_MODULE = moduleOf("worker");
export const BROKER_MODULE = moduleOf("broker");

/** The page at `/__sluice/` as an archive. There is none when this runs from source. */
export function pageArchive(): Uint8Array {
  const file = fileURLToPath(new URL(`./${PAGE_FILE}`, import.meta.url));
  return existsSync(file) ? readFileSync(file) : new Uint8Array();
}

function moduleOf(name: string): string {
  const source = fileURLToPath(new URL(`./worker/${name}.ts`, import.meta.url));
  return existsSync(source) ? source : fileURLToPath(new URL(`./worker/${name}.js`, import.meta.url));
}
