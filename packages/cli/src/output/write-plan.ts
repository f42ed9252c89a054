import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CliError } from "../errors.ts";
import { makeFolder, refusalOf } from "../folders.ts";
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
  writeIfChanged(join(directory, ".gitignore"), "*\n");
}

function writeWorker({ directory, files }: GeneratedWorker): void {
  for (const [name, contents] of Object.entries(files)) writeIfChanged(join(directory, name), contents);
}

/**
 * Writes a file and the folders around it. In place rather than by renaming a temporary file: Wrangler watches the file, not
 * its name.
 *
 * @param folderMode of the folders that are made. Default: what the process makes.
 * @throws CliError with the file system's reason.
 */
export function writeIfChanged(file: string, contents: string | Uint8Array, folderMode?: number): void {
  if (isWritten(file, contents)) return;
  try {
    makeFolder(dirname(file), folderMode);
    writeFileSync(file, contents);
  } catch (error) {
    const reason = refusalOf(error);
    throw reason === null ? error : new CliError(`${file} cannot be written: ${reason}.`);
  }
}

function isWritten(file: string, contents: string | Uint8Array): boolean {
  try {
    return readFileSync(file).equals(Buffer.from(contents));
  } catch {
    return false;
  }
}
