import { relative } from "node:path";
import { isCloudflareConfig } from "@sluice/config";
import { findPlaces } from "@sluice/local/places";
import type { Printer } from "@sluice/local/report/printer";
import { topologyTable } from "@sluice/local/report/topology-table";
import { chosenEnvironment } from "@sluice/local/settings/environment";
import { shieldFoldersBelow, writeRedirect } from "@sluice/project/files/redirect";
import { placeSecrets } from "@sluice/project/files/secrets";
import { makeOutputFolder, writePlan } from "@sluice/project/files/write-plan";
import { makePlan, type Plan } from "@sluice/project/generate/plan";
import { ownProject } from "@sluice/project/own-project";
import { refuseMissingMain } from "@sluice/project/read/missing-main";
import { type Project, readProject } from "@sluice/project/read/project";
import { joinRegister } from "@sluice/project/register/serve-projects";
import { anyWrangler, takeWranglerOf } from "@sluice/project/wrangler/load-wrangler";
import { writeCloudflareTypes } from "@sluice/project/wrangler/wrangler-config";

export interface BuildOptions {
  /** Folders or configuration files of Workers; none stands for the current folder. */
  readonly targets: readonly string[];
  readonly env?: string;
  /** Name of the broker, environment suffix excluded. Default: `[sluice] broker`, else "sluice". */
  readonly broker?: string;
  /** Folder for the generated files, seen from the current one. Default `.sluice`. */
  readonly outdir?: string;
}

/**
 * `sluice build`: writes the generated configurations and redirects Wrangler to them. A plain `wrangler dev` or
 * `wrangler deploy` in each Worker's folder then uses the broker.
 */
export async function build(options: BuildOptions, printer: Printer): Promise<number> {
  const workingDirectory = process.cwd();
  takeWranglerOf(
    [workingDirectory, ...options.targets],
    anyWrangler((text) => printer.warn(text)),
  );
  const chosen = chosenEnvironment(options.env, process.env);
  const { targets, broker: option } = options;
  const onAccount = { broker: option };
  const read = await readProject({ targets, command: "build", env: chosen, workingDirectory, onAccount });
  const { env } = read;
  refuseMissingMain(read.workers);
  const places = await findPlaces("build", workingDirectory, options.outdir);
  const own = ownProject(read, { cwd: workingDirectory, defaults: places.defaults, option });
  const project: Project = { ...read, register: joinRegister(read.broker.name, null, own) };
  const plan = makePlan(project, "build", places);
  makeOutputFolder(places.root);
  writePlan(plan);
  // Wrangler finds secrets there when it runs in the Worker's folder; with --config it looks beside the configuration.
  for (const { userDirectory, directory } of plan.workers) placeSecrets(userDirectory, directory, env);
  for (const { file } of project.workers) {
    if (isCloudflareConfig(file)) await writeCloudflareTypes(file, env);
  }

  const here = (path: string) => relative(workingDirectory, path) || ".";
  for (const warning of project.warnings) printer.warn(warning);
  printer.print(`${topologyTable(project.topology, [], printer)}\n`);
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
  if (project.workers.length > 0) printer.print(`\n${howToRunTogether(project, plan, here)}`);
  return 0;
}

/**
 * Explains how to run the generated configurations together. Naming the user's configurations would run Wrangler's own
 * queues without a warning: Wrangler follows a redirect only where no configuration is named.
 */
function howToRunTogether({ workers }: Project, plan: Plan, here: (path: string) => string): string {
  const named = workers.filter(({ file }) => !isCloudflareConfig(file));
  const own = named.map(({ file }) => `-c ${here(file)}`).join(" ");
  const generated = [...plan.workers, plan.broker]
    .map(({ configFile }) => `-c ${here(configFile)}`)
    .join(" ");
  return [
    "To run them together in one process:",
    `  npx wrangler dev ${generated}`,
    ...(named.length === 0
      ? []
      : [
          `"wrangler dev ${own}" would run Wrangler's own queues instead: ` +
            `it uses what was generated only where no configuration is named.`,
        ]),
    ...(named.length === workers.length
      ? []
      : [
          '"cf dev" and "wrangler dev --x-new-config" would run Wrangler\'s own queues: they use nothing generated.',
        ]),
  ].join("\n");
}
