import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { GeneratedWorker, Plan } from "../generate/plan.ts";

/** Name of the folder that holds everything we generate, unless `--outdir` says otherwise. */
export const OUTPUT_FOLDER = ".sluice";

/**
 * Writes what a plan says, the Workers before the broker, so that the broker never names a consumer that is not there.
 * A file that is the same already is not touched: Wrangler reloads for every write.
 */
export function writePlan(plan: Plan): void {
  for (const worker of [...plan.workers, plan.broker]) writeWorker(worker);
}

/** Keeps version control away from a folder of ours without asking for a line in the user's `.gitignore`. */
export function makeOutputFolder(directory: string): void {
  mkdirSync(directory, { recursive: true });
  writeIfChanged(join(directory, ".gitignore"), "*\n");
}

function writeWorker({ directory, files }: GeneratedWorker): void {
  mkdirSync(directory, { recursive: true });
  for (const [name, contents] of Object.entries(files)) writeIfChanged(join(directory, name), contents);
}

/** In place rather than by renaming a temporary file: Wrangler watches the file, not its name. */
export function writeIfChanged(file: string, contents: string): void {
  if (readOrNull(file) === contents) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, contents);
}

function readOrNull(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
