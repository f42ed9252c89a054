import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const CLI = fileURLToPath(new URL("../../../../packages/cli/", import.meta.url));

/** The command as its package has it, built into a folder of this process's own. */
export interface Command {
  /** Its entry, for Node.js. */
  readonly main: string;
  remove(): Promise<void>;
}

/** Builds the command. From source it would take most of its life to start. */
export async function buildCommand(): Promise<Command> {
  const folder = `dist-${process.pid}`;
  await promisify(execFile)(process.execPath, ["build.mjs", folder], { cwd: CLI });
  const built = path.join(CLI, folder);
  return {
    main: path.join(built, "main.js"),
    remove: () => rm(built, { recursive: true, force: true }),
  };
}
