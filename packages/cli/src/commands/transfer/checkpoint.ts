import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { CliError, EXIT_FAILED } from "@sluice/project/errors";

/** Mode of files that say what is in queues: their owner's alone, whatever the umask is. */
export const OWNERS_MODE = 0o600;

/**
 * How far an export or an import of a file has come, in a file beside it. Written behind each page or batch, and gone
 * when everything is done: so it is there when somebody has stopped it.
 */
export class Checkpoint<T extends object> {
  readonly file: string;

  constructor(file: string) {
    this.file = file;
  }

  get exists(): boolean {
    return existsSync(this.file);
  }

  /** @throws CliError for a file that is none of ours. */
  read(): T {
    try {
      return JSON.parse(readFileSync(this.file, "utf8")) as T;
    } catch (error) {
      const why = error instanceof Error ? error.message : error;
      throw new CliError(`${this.file} cannot be read: ${why}`, EXIT_FAILED);
    }
  }

  /** At once or not at all, whenever the process ends. */
  write(state: T): void {
    const next = `${this.file}.next`;
    writeFileSync(next, JSON.stringify(state), { mode: OWNERS_MODE });
    renameSync(next, this.file);
  }

  remove(): void {
    rmSync(this.file, { force: true });
  }
}
