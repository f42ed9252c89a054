import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { COMMAND_VARIABLE } from "sluice/test/running";

const CLI = fileURLToPath(new URL("../../../../packages/cli/", import.meta.url));

/** The command as in its package, built into a folder of this process. */
export interface Command {
  /** Its entry, for Node.js. */
  readonly main: string;
  remove(): Promise<void>;
}

/** Build of the command that this process shares, and the number of its users. */
const shared: { built: Promise<string> | null; users: number } = { built: null, users: 0 };

/**
 * Builds the command, once for all users at a time, or takes the one that a run of all tests has built. From source it
 * would take most of an epoch to start.
 */
export async function buildCommand(): Promise<Command> {
  const main = process.env[COMMAND_VARIABLE];
  if (main !== undefined) return { main, remove: async () => {} };
  shared.users += 1;
  shared.built ??= build();
  const leave = () => {
    shared.users -= 1;
    if (shared.users === 0) shared.built = null;
    return shared.users === 0;
  };
  try {
    const built = await shared.built;
    return {
      main: path.join(built, "main.js"),
      remove: async () => {
        if (leave()) await rm(built, { recursive: true, force: true });
      },
    };
  } catch (error) {
    leave();
    throw error;
  }
}

let builds = 0;

async function build(): Promise<string> {
  builds += 1;
  const folder = `dist-${process.pid}-${builds}`;
  await promisify(execFile)(process.execPath, ["build.mjs", folder], { cwd: CLI });
  return path.join(CLI, folder);
}
