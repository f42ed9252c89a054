import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CliError } from "../errors.ts";
import { makeFolder, refusalOf } from "../folders.ts";

/** Name of the folder that holds everything we generate, unless `--outdir` says otherwise. */
export const OUTPUT_FOLDER = ".sluice";

/** File of a generated folder with what is secret. */
const DEV_VARS_FILE = ".dev.vars";
const SECRET_MODE = 0o600;

/** Modes of what is made. Default: what the process makes. */
interface Modes {
  readonly folderMode?: number;
  /** Also of a file that is there. */
  readonly fileMode?: number;
}

/** A folder that is generated, such as that of a Worker (`GeneratedWorker`). */
interface GeneratedFolder {
  /** Absolute. */
  readonly directory: string;
  /** Contents by file name. */
  readonly files: Readonly<Record<string, string | Uint8Array>>;
}

/**
 * Writes what a plan (`Plan`) says, the Workers before the broker, so that the broker never names a consumer that is
 * not there. A file that is the same already is not touched: Wrangler reloads for every write.
 */
export function writePlan(plan: {
  readonly workers: readonly GeneratedFolder[];
  readonly broker: GeneratedFolder;
}): void {
  for (const { directory, files } of [...plan.workers, plan.broker]) {
    for (const [name, contents] of Object.entries(files)) {
      const isSecret = name === DEV_VARS_FILE;
      writeIfChanged(join(directory, name), contents, isSecret ? { fileMode: SECRET_MODE } : {});
    }
  }
}

/** Keeps version control away from a folder of ours without asking for a line in the user's `.gitignore`. */
export function makeOutputFolder(directory: string): void {
  writeIfChanged(join(directory, ".gitignore"), "*\n");
}

/**
 * Writes a file and the folders around it. In place rather than by renaming a temporary file: Wrangler watches the
 * file, not its name.
 *
 * @throws CliError with the file system's reason.
 */
export function writeIfChanged(
  file: string,
  contents: string | Uint8Array,
  { folderMode, fileMode }: Modes = {},
): void {
  if (isWritten(file, contents)) return;
  try {
    makeFolder(dirname(file), folderMode);
    // Before anything is in it that only its owner may read.
    if (fileMode !== undefined && existsSync(file)) chmodSync(file, fileMode);
    writeFileSync(file, contents, { mode: fileMode });
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
