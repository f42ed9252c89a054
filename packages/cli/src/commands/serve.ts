import { randomUUID } from "node:crypto";
import { dirname, join, resolve } from "node:path";
import type { QueueTopology } from "@sluice/protocol";
import { lockData, OBJECTS_FOLDER } from "../data-lock.ts";
import { writeGenerated } from "../dev/generation.ts";
import { QueueWaker } from "../dev/wake-queues.ts";
import { chosenEnvironment, wranglerEnvironment } from "../environment.ts";
import { endpointVariables } from "../generate/broker-settings.ts";
import type { GeneratedWorker, Plan } from "../generate/plan.ts";
import { writeIfChanged } from "../output/write-plan.ts";
import { findPlaces } from "../places.ts";
import { refuseMissingMain } from "../project/missing-main.ts";
import { type Project, readProject } from "../project/project.ts";
import { recoverData } from "../recover-data.ts";
import { addresses, awsLines, httpUrl } from "../report/addresses.ts";
import type { Printer } from "../report/printer.ts";
import { topologyTable } from "../report/topology-table.ts";
import { runAlone } from "../serve/alone/run-alone.ts";
import { assetWarnings } from "../serve/assets.ts";
import { bundleWorker } from "../serve/bundle.ts";
import { checkAwsSettings } from "../serve/check-aws-settings.ts";
import { drain } from "../serve/drain.ts";
import { durableObjectClasses } from "../serve/durable-objects.ts";
import { type Front, startFront } from "../serve/front/front.ts";
import { stackFrameMapper } from "../serve/stack-frames.ts";
import { stopOnSignals } from "../serve/stop.ts";
import { type Admission, admit, brokerVariables, isLoopback, variablesOf } from "../serve/variables.ts";
import { type ServedWorker, workerdConfig } from "../serve/workerd-config.ts";
import { startWorkerd, type Workerd } from "../serve/workerd-process.ts";

export const SERVE_PORT_DEFAULT = 8787;
export const SERVE_HOST_DEFAULT = "127.0.0.1";

export interface ServeOptions {
  /** Folders or configuration files of Workers; none stands for the broker alone. The first one owns the port. */
  readonly targets: readonly string[];
  /** Default 8787; 0 for one that is free. */
  readonly port?: number;
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string;
  /** Default: `.wrangler/state` beside the first configuration, where `sluice dev` keeps it. */
  readonly persistTo?: string;
  readonly env?: string;
  /** Port on 127.0.0.1 for debuggers and profilers. Default: none. */
  readonly inspectorPort?: number;
}

/** What a command adds that serves something of its own. */
export interface ServeMore {
  /** Queues that no file says anything of. */
  readonly queues?: QueueTopology["queues"];
  /** Variables of the broker, unless its own or the environment's say otherwise. */
  readonly vars?: Readonly<Record<string, string>>;
  /** What is printed when everything runs, in the place of the addresses. */
  readonly introduction?: (url: string) => string;
}

/**
 * `sluice serve`: runs the broker in this process or, if any of the user's Workers are named, it and them on workerd: a Worker
 * answers about ten times as many requests a second as through Wrangler's proxies (the package's README has the figures).
 *
 * Resolves to the exit code when that has ended: 0 if this process was told to stop.
 *
 * @throws ConfigError or CliError for files that cannot be used, bindings that need more than workerd, a port in
 * use, or data that another process has.
 */
export async function serve(options: ServeOptions, printer: Printer, more: ServeMore = {}): Promise<number> {
  const { targets, host = SERVE_HOST_DEFAULT, port = SERVE_PORT_DEFAULT } = options;
  const env = chosenEnvironment(options.env, process.env);
  const project = await readProject({
    ...{ targets, env, workingDirectory: process.cwd(), withoutTargets: "broker-alone" },
    ...(more.queues === undefined ? {} : { queues: more.queues }),
  });
  refuseMissingMain(project.workers);
  const plan = await generated(project, env);
  const home = project.workers[0]?.userDirectory ?? project.broker.directory;
  const state = resolve(options.persistTo ?? join(home, ".wrangler/state"));
  const free = lockData(state, "sluice serve");
  try {
    await recoverData(state, project.broker.name, printer);
    for (const warning of [...project.warnings, ...assetWarnings(project.workers)]) printer.warn(warning);
    if (targets.length > 0) printer.print(`${topologyTable(project.topology, [])}\n`);
    const { topology } = project;
    const running = await run(
      { broker: project.broker.name, plan },
      {
        ...{ state, host, port, inspectorPort: options.inspectorPort ?? null, topology },
        vars: more.vars ?? {},
        warn: (text) => printer.warn(text),
      },
    );
    const { front, brokerVars, headers } = running;
    const url = httpUrl(host, front.port);
    const introduction = more.introduction?.(url);
    printer.print(
      introduction === undefined ? addresses(url, project, state) : `${introduction}\ndata    ${state}`,
    );
    if (targets.length === 0 && more.introduction === undefined) {
      printer.print(
        `\nFor AWS's SDKs (the AWS CLI takes --endpoint-url, clients that know no path take ${url}):\n${awsLines(url, brokerVars)}`,
      );
    }
    // A queue that holds messages, or has tasks to send, goes on once it is asked.
    const waker = new QueueWaker();
    waker.wake(url, topology, headers);
    if (!isLoopback(host)) printer.warn(OPEN_TO_OTHERS);
    const finish = async (signal: AbortSignal) => {
      await drain({ url, headers, topology, printer, signal });
      await front.stop(signal);
    };
    return await stopOnSignals(running.process, finish).finally(() => {
      waker.stop();
      front.destroy();
    });
  } finally {
    free();
  }
}

/**
 * Writes what Wrangler is to read; `null` for a broker alone of which no file says anything. Wrangler, which takes most of a
 * second to load, has nothing to do then.
 */
async function generated(project: Project, env: string): Promise<Plan | null> {
  if (project.workers.length === 0 && project.broker.file === null) return null;
  return writeGenerated(project, { env, places: await findPlaces("serve", process.cwd()), purpose: "serve" });
}

/** What is to run: the broker's Worker by its name and, unless no file says anything of it, what was generated. */
interface ToRun {
  readonly broker: string;
  readonly plan: Plan | null;
}

/** How it is to run. */
interface Run {
  readonly state: string;
  readonly host: string;
  readonly port: number;
  /** `null` for none. */
  readonly inspectorPort: number | null;
  readonly topology: QueueTopology;
  /** Variables of the broker, unless its own or the environment's say otherwise. */
  readonly vars: Readonly<Record<string, string>>;
  readonly warn: (text: string) => void;
}

/** What was started. */
interface Started {
  readonly process: Pick<Workerd, "ended" | "kill">;
  readonly front: Front;
  readonly brokerVars: Readonly<Record<string, unknown>>;
  /** What its admin API wants of who asks. */
  readonly headers: Admission["headers"];
}

async function run({ broker: worker, plan }: ToRun, options: Run): Promise<Started> {
  const { state, host, port, inspectorPort, topology, vars: more, warn } = options;
  const own = plan === null ? {} : await variablesOf(plan.broker);
  const brokerVars = brokerVariables({ ...more, ...own }, process.env, host, endpointVariables(topology));
  checkAwsSettings(brokerVars);
  const { vars, headers } = admit(brokerVars, randomUUID());
  const objects = join(state, OBJECTS_FOLDER);
  const started =
    plan === null || plan.workers.length === 0
      ? await runAlone({ host, port, inspectorPort, objects, worker, topology, vars })
      : await runOnWorkerd(plan, { host, port, inspectorPort, objects, vars, warn });
  return { ...started, brokerVars, headers };
}

/** How workerd is to run. */
interface WorkerdRun extends Pick<Run, "host" | "port" | "inspectorPort" | "warn"> {
  readonly vars: Readonly<Record<string, unknown>>;
  /** Folder of the Durable Objects. */
  readonly objects: string;
}

/** Bundles the Workers, starts workerd with them and the front before it. */
async function runOnWorkerd({ workers, broker }: Plan, options: WorkerdRun) {
  const { host, port, inspectorPort, objects, vars, warn } = options;
  const token = randomUUID();
  const serveOne = async (generated: GeneratedWorker): Promise<ServedWorker> => {
    const { name, configFile } = generated;
    const upload = await bundleWorker(name, configFile, wranglerEnvironment(process.env));
    const classes = await durableObjectClasses(generated);
    const isBroker = generated === broker;
    return {
      ...{ name, upload, classes },
      vars: isBroker ? { ...vars, SLUICE_FRONT_TOKEN: token } : await variablesOf(generated),
    };
  };
  const served = await Promise.all([...workers, broker].map(serveOne));
  const primary = workers[0] ?? broker;
  const folder = dirname(primary.directory);
  const { text, files, environment, maps } = workerdConfig(served, broker.name, { folder, objects });
  const configFile = join(folder, "workerd.capnp");
  for (const [path, contents] of Object.entries({ ...files, "workerd.capnp": text })) {
    writeIfChanged(join(folder, path), contents);
  }
  const workerd = await startWorkerd({
    configFile,
    inspectorPort,
    environment,
    rewrite: stackFrameMapper(maps),
  });
  try {
    const front = await startFront({ host, port, workerd: workerd.ports, token, warn });
    return { process: workerd, front };
  } catch (error) {
    workerd.kill("SIGKILL");
    throw error;
  }
}

const OPEN_TO_OTHERS =
  "Other machines reach this address. The broker's HTTP API answers them with one of SLUICE_API_TOKENS only, its AWS " +
  "endpoint with one of SLUICE_AWS_ACCESS_KEYS only, unless SLUICE_ENV=local opens both to everybody.";
