import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Our modules for Workers: TypeScript when this runs from source, JavaScript beside the bundle of the package. */
export function workerModules(): { readonly worker: string; readonly broker: string } {
  return { worker: moduleOf("worker.ts", "worker.js"), broker: moduleOf("broker.ts", "broker.js") };
}

/** The Worker that empties everything. */
export function resetModule(): string {
  return moduleOf("reset.js", "reset.js");
}

function moduleOf(source: string, packed: string): string {
  const path = fileURLToPath(new URL(`../worker/${source}`, import.meta.url));
  return existsSync(path) ? path : fileURLToPath(new URL(`./worker/${packed}`, import.meta.url));
}
