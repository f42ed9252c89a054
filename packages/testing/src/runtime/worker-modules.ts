import { readFileSync } from "node:fs";
import { ownModule } from "@sluice/project/own-module";

/** Our modules for Workers: TypeScript when this runs from source, JavaScript beside the bundle of the package. */
export function workerModules(): { readonly worker: string; readonly broker: string } {
  return { worker: moduleOf("worker.ts", "worker.js"), broker: moduleOf("broker.ts", "broker.js") };
}

/** Source of the Worker between a test's process and the user's Workers, or of what each of those gets. */
export function plainModule(name: "host.js" | "control.js"): string {
  return readFileSync(moduleOf(name, name), "utf8");
}

function moduleOf(source: string, packed: string): string {
  return ownModule(new URL(`../worker/${source}`, import.meta.url), `worker/${packed}`);
}
