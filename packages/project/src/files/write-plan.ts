import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CliError } from "../errors.ts";
import { makeFolder, writeRefusal } from "../folders.ts";

/** Name of the folder for everything generated, unless `--outdir` names another. */
export const OUTPUT_FOLDER = ".sluice";

/** File with secrets in a generated folder. */
const DEV_VARS_FILE = ".dev.vars";
const SECRET_MODE = 0o600;

/** Modes of new files and folders. Default: those of the process. */
interface Modes {
  readonly folderMode?: number;
  /** Also for an existing file. */
  readonly fileMode?: number;
}

/** A generated folder, for example a Worker's (`GeneratedWorker`). */
interface GeneratedFolder {
  /** Absolute path. */
  readonly directory: string;
  readonly files: Readonly<Record<string, string | Uint8Array>>;
}

/**
 * Writes the files of a plan (`generate/plan.ts`). The Workers come before the broker, so that the broker never names a
 * missing consumer. An unchanged file is not written, because Wrangler reloads after every write.
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

/** Makes the output folder, with a `.gitignore` that keeps it out of version control. */
export function makeOutputFolder(directory: string): void {
  writeIfChanged(join(directory, ".gitignore"), "*\n");
}

/**
 * Writes a file whose contents have changed, and makes the folders around it. It writes in place, without a temporary
 * file, because Wrangler watches the file and not its name.
 *
 * @throws CliError with the file system's reason.
 */
export function writeIfChanged(
  file: string,
  contents: string | Uint8Array,
  { folderMode, fileMode }: Modes = {},
): void {
  if (hasContents(file, contents)) return;
  try {
    makeFolder(dirname(file), folderMode);
    // An existing file gets its mode before it gets secrets.
    if (fileMode !== undefined && existsSync(file)) chmodSync(file, fileMode);
    writeFileSync(file, contents, { mode: fileMode });
  } catch (error) {
    const reason = writeRefusal(error);
    throw reason === null ? error : new CliError(`${file} cannot be written: ${reason}.`);
  }
}

function hasContents(file: string, contents: string | Uint8Array): boolean {
  try {
    return readFileSync(file).equals(Buffer.from(contents));
  } catch {
    return false;
  }
}
