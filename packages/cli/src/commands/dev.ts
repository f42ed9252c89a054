import { join, resolve } from "node:path";
import { supervise } from "../dev/supervisor.ts";
import { wakeQueues } from "../dev/wake-queues.ts";
import { watchFiles } from "../dev/watch.ts";
import { type Listening, startWrangler } from "../dev/wrangler-process.ts";
import { makePlan, type Plan } from "../generate/plan.ts";
import { placeSecrets } from "../output/secrets.ts";
import { makeOutputFolder, writePlan } from "../output/write-plan.ts";
import { type Project, readProject, watchedFiles } from "../project/project.ts";
import { addresses, urlOf } from "../report/addresses.ts";
import type { Printer } from "../report/printer.ts";
import { topologyTable } from "../report/topology-table.ts";
import { chosenEnvironment, wranglerEnvironment } from "./environment.ts";
import { type CommandPlaces, findPlaces } from "./places.ts";

export interface DevOptions {
  /** Folders or configuration files of Workers; none stands for the current folder. The first one owns the port. */
  readonly targets: readonly string[];
  /** Default: the primary Worker's `dev.port`, else 8787, else a free one, as Wrangler chooses. */
  readonly port?: number;
  readonly ip?: string;
  /** Default: `.wrangler/state` beside the primary Worker's configuration, where `wrangler dev` keeps it. */
  readonly persistTo?: string;
  readonly env?: string;
  readonly inspectorPort?: number;
  /** Passed on to `wrangler dev`. */
  readonly wranglerArguments: readonly string[];
}

/**
 * `sluice dev`: runs the user's Workers and the broker in one `wrangler dev`, and generates anew whatever a change of
 * their configurations changes. Resolves to the exit code when Wrangler has ended.
 */
export async function dev(options: DevOptions, printer: Printer): Promise<number> {
  const workingDirectory = process.cwd();
  const env = chosenEnvironment(options.env, process.env);
  const read = () => readProject({ targets: options.targets, env, workingDirectory });
  const places = await findPlaces("dev", workingDirectory);

  let project = await read();
  let plan = generate(project, env, places);
  let shownTable = "";
  const introduce = () => {
    for (const warning of project.warnings) printer.warn(warning);
    const table = topologyTable(project.topology);
    if (table !== shownTable) printer.print(`${table}\n`);
    shownTable = table;
  };
  const args = () => wranglerArguments(plan, options);
  let url: string | null = null;
  let waking = new AbortController();
  const wake = () => {
    waking.abort();
    waking = new AbortController();
    if (url !== null) void wakeQueues(url, project.topology, waking.signal);
  };
  const onListening = (listening: Listening) => {
    url = urlOf(listening, project);
    printer.print(addresses(url, project));
    wake();
  };
  introduce();
  const wrangler = supervise(() =>
    startWrangler({ args: args(), env: wranglerEnvironment(process.env), onListening }),
  );

  const update = async () => {
    const before = args();
    project = await read();
    plan = generate(project, env, places);
    watch.set(watchedFiles(project));
    introduce();
    // Wrangler sees by itself what is in its files, but not that there are other files.
    if (args().join() !== before.join()) wrangler.restart();
    else wake();
  };
  let updating = Promise.resolve();
  const watch = watchFiles(() => {
    updating = updating.then(update).catch((error: unknown) => {
      printer.warn(
        `${error instanceof Error ? error.message : error}\nSluice goes on with what it read before.`,
      );
    });
  });
  watch.set(watchedFiles(project));
  return wrangler.ended.finally(() => {
    waking.abort();
    watch.close();
  });
}

function generate(project: Project, env: string, places: CommandPlaces): Plan {
  const plan = makePlan(project, "dev", places);
  makeOutputFolder(places.root);
  writePlan(plan);
  // A broker of our own making has no secrets: those in the current folder are some Worker's.
  for (const { userDirectory, directory } of project.broker.file === null
    ? plan.workers
    : [...plan.workers, plan.broker]) {
    placeSecrets(userDirectory, directory, env);
  }
  return plan;
}

function wranglerArguments({ workers, broker }: Plan, options: DevOptions): string[] {
  const [primary = broker] = workers;
  const persistTo = options.persistTo ?? join(primary.userDirectory, ".wrangler/state");
  return [
    "dev",
    ...[...workers, broker].flatMap(({ configFile }) => ["--config", configFile]),
    ...["--persist-to", resolve(persistTo)],
    ...(options.port === undefined ? [] : ["--port", `${options.port}`]),
    ...(options.ip === undefined ? [] : ["--ip", options.ip]),
    ...(options.inspectorPort === undefined ? [] : ["--inspector-port", `${options.inspectorPort}`]),
    ...options.wranglerArguments,
  ];
}
