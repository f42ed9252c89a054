import { readFileSync } from "node:fs";
import { ownModule } from "@sluice/project/own-module";

/** Finds our modules for Workers: TypeScript from source, JavaScript beside the bundle from a package. */
export function workerModules(): { readonly worker: string; readonly broker: string } {
  return { worker: moduleOf("worker.ts", "worker.js"), broker: moduleOf("broker.ts", "broker.js") };
}

/** Reads the source of the Worker between the test's process and the user's Workers, or of its part in each. */
export function plainModule(name: "host.js" | "control.js"): string {
  return readFileSync(moduleOf(name, name), "utf8");
}

function moduleOf(source: string, packed: string): string {
  return ownModule(new URL(`../worker/${source}`, import.meta.url), `worker/${packed}`);
}
