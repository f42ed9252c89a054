import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Printer } from "@sluice/local/report/printer";
import { CliError, EXIT_USAGE } from "@sluice/project/errors";
import { createTwoFilesPatch } from "diff";
import type { Surroundings } from "../../surroundings.ts";
import { version } from "../../version.ts";
import { agree } from "../on-broker.ts";
import { archivesFolder } from "./archives.ts";
import { type Changes, changesFor } from "./changes.ts";

export interface InitOptions {
  /** Change without asking. */
  readonly yes?: boolean;
  /** Show what would be changed, and change nothing. */
  readonly dryRun?: boolean;
  /** Folder of packed packages to install. Default: the one that this command was installed from. */
  readonly from?: string;
}

const CONTEXT_LINES = 2;

/**
 * `sluice init`: makes the project of the current folder run on Sluice, after it has shown the changes. A second run
 * finds nothing to do.
 */
export async function init(
  options: InitOptions,
  printer: Printer,
  surroundings: Surroundings,
): Promise<number> {
  const { cwd } = surroundings;
  const changes = changesFor(cwd);
  const { files, notes } = changes;
  const from =
    options.from === undefined
      ? archivesFolder(changes.root, import.meta.filename)
      : resolve(cwd, options.from);
  const command = installation(changes, from);
  for (const { name, before, after } of files) {
    const patch = createTwoFilesPatch(name, name, before, after, "", "", { context: CONTEXT_LINES });
    printer.print(patch.slice(patch.indexOf("---")).trimEnd());
  }
  if (command !== null) printer.print(`$ ${command.join(" ")}`);
  for (const note of notes) printer.print(note);
  if (files.length === 0 && command === null) {
    printer.print("There is nothing to change.");
    return 0;
  }
  if (options.dryRun) return 0;
  await agree(surroundings, { question: "Change this?", yes: options.yes === true });
  for (const { name, after } of files) writeFileSync(join(cwd, name), after);
  if (command !== null) install(command, changes.root, surroundings);
  printer.print(`Done. Start it by "${changes.start}". /__sluice/ there is the dashboard.`);
  return 0;
}

/** Makes the command line that installs the missing packages; `null` where none is missing. */
function installation({ packages, manager }: Changes, from: string | null): string[] | null {
  if (packages.length === 0) return null;
  return [manager.name, ...manager.add, ...packages.map((name) => specifier(name, from))];
}

/** Returns the path of a package's archive. No registry has these names, so anybody could publish under them. */
function specifier(name: string, from: string | null): string {
  if (from === null) {
    throw new CliError(
      `${name} is in no registry, and it is not known which archive this command was installed from. Name the folder ` +
        "of the packed packages: sluice init --from DIR",
      EXIT_USAGE,
    );
  }
  const archive = join(from, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`);
  if (!existsSync(archive)) throw new CliError(`There is no ${archive}.`, EXIT_USAGE);
  return archive;
}

/**
 * Makes a command line of a package manager runnable. On Windows package managers are shell scripts (`npm.cmd`), which
 * only a shell runs, and spaces and `^` in arguments need quotes.
 */
export function runnable(
  [program = "", ...args]: readonly string[],
  platform: NodeJS.Platform = process.platform,
): { readonly program: string; readonly args: readonly string[]; readonly shell: boolean } {
  if (platform !== "win32") return { program, args, shell: false };
  return { program: [program, ...args.map((arg) => `"${arg}"`)].join(" "), args: [], shell: true };
}

function install(command: readonly string[], cwd: string, { env }: Surroundings): void {
  const { program, args, shell } = runnable(command);
  const { status, error } = spawnSync(program, args, { cwd, env, stdio: "inherit", shell });
  if (error !== undefined) throw new CliError(`${program} cannot be run: ${error.message}`);
  if (status !== 0) throw new CliError(`${program} has ended with ${status}. The files have been changed.`);
}
