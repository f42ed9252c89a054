import { relative } from "node:path";
import { chosenEnvironment } from "../environment.ts";
import { makePlan } from "../generate/plan.ts";
import { shieldFoldersBelow, writeRedirect } from "../output/redirect.ts";
import { makeOutputFolder, writePlan } from "../output/write-plan.ts";
import { findPlaces } from "../places.ts";
import { refuseMissingMain } from "../project/missing-main.ts";
import { readProject } from "../project/project.ts";
import type { Printer } from "../report/printer.ts";
import { topologyTable } from "../report/topology-table.ts";

export interface BuildOptions {
  /** Folders or configuration files of Workers; none stands for the current folder. */
  readonly targets: readonly string[];
  readonly env?: string;
  /** Folder for the generated files, seen from the current one. Default `.sluice`. */
  readonly outdir?: string;
}

/**
 * `sluice build`: writes the generated configurations and redirects Wrangler to them, so that a plain `wrangler dev` or
 * `wrangler deploy` in each Worker's folder uses the broker.
 */
export async function build(options: BuildOptions, printer: Printer): Promise<number> {
  const workingDirectory = process.cwd();
  const env = chosenEnvironment(options.env, process.env);
  const project = await readProject({ targets: options.targets, env, workingDirectory });
  refuseMissingMain(project.workers);
  const places = await findPlaces("build", workingDirectory, options.outdir);
  const plan = makePlan(project, "build", places);
  makeOutputFolder(places.root);
  writePlan(plan);

  const here = (path: string) => relative(workingDirectory, path) || ".";
  for (const warning of project.warnings) printer.warn(warning);
  printer.print(`${topologyTable(project.topology, [])}\n`);
  const redirected: string[] = [];
  for (const { name, configFile, wranglerDirectory } of [...plan.workers, plan.broker]) {
    if (wranglerDirectory === null) {
      printer.print(`${name}: ${here(configFile)}, for wrangler with --config`);
      continue;
    }
    printer.print(`${name}: ${here(configFile)}, used by wrangler in ${here(wranglerDirectory)}`);
    writeRedirect(wranglerDirectory, configFile);
    redirected.push(wranglerDirectory);
  }
  const outputs = project.workers.map(({ directory }) => directory);
  for (const folder of redirected.flatMap((directory) => shieldFoldersBelow(directory, outputs))) {
    printer.print(
      `${here(folder)}: redirected to its own configuration, since it is below a folder that was built`,
    );
  }
  return 0;
}
