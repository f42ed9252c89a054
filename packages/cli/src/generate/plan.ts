import { join } from "node:path";
import type { QueueTopology } from "@sluice/protocol";
import type { Unstable_Config } from "wrangler";
import type { Project } from "../project/project.ts";
import { consumes, type UserWorker } from "../project/worker.ts";
import { type BrokerBase, consumerBindings, generateBrokerConfig } from "./broker-config.ts";
import { brokerEntrySource, TOPOLOGY_FILE } from "./broker-entry.ts";
import { devVarsFile, endpointVariables, SECRET_SETTINGS } from "./broker-settings.ts";
import { queueCompatibility } from "./compatibility.ts";
import { devVars } from "./dev-vars.ts";
import { hasDurableObjects } from "./own-objects.ts";
import { relativePath } from "./paths.ts";
import type { Purpose } from "./purpose.ts";
import { ENTRY_FILE, type GeneratedConfig, generateWorkerConfig } from "./worker-config.ts";
import { BINDINGS_FILE, bindingsSource, workerEntrySource } from "./worker-entry.ts";

/** A folder with a Wrangler configuration and what that one refers to. */
export interface GeneratedWorker {
  readonly name: string;
  /** Absolute. */
  readonly directory: string;
  /** Absolute path of the configuration in it. */
  readonly configFile: string;
  /** Contents by file name. */
  readonly files: Readonly<Record<string, string>>;
  /** Folder of the project whose configuration this one stands in for. Absolute. */
  readonly userDirectory: string;
  /** Folder in which a plain `wrangler` is to use it, `null` for none. */
  readonly wranglerDirectory: string | null;
}

/** Everything that a run writes. Nothing of it has been written yet. */
export interface Plan {
  /** In the order of the command line: the first is the primary one. */
  readonly workers: readonly GeneratedWorker[];
  readonly broker: GeneratedWorker;
}

/** Where things are. All absolute. */
export interface Places {
  /** Folder that gets one folder per Worker. */
  readonly outputDirectory: string;
  /** Folder that the command runs in. */
  readonly workingDirectory: string;
  /** Our modules for Workers: `worker` and `broker`, with their extension. */
  readonly runtime: { readonly worker: string; readonly broker: string };
  /** What Wrangler makes of an empty configuration. */
  readonly defaults: Unstable_Config;
  /** Variables of the command's own environment. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Works out every file of a run. Pure: reads and writes nothing. */
export function makePlan(project: Project, purpose: Purpose["kind"], places: Places): Plan {
  const { workers, broker } = project;
  return {
    workers: workers.map((worker, i) =>
      planWorker(
        worker,
        purpose === "build" ? { kind: purpose } : { kind: purpose, primary: i === 0 },
        broker,
        places,
      ),
    ),
    broker: planBroker(project, purpose, places),
  };
}

function planWorker(
  worker: UserWorker,
  purpose: Purpose,
  broker: BrokerBase,
  places: Places,
): GeneratedWorker {
  const directory = join(places.outputDirectory, worker.name);
  const { workingDirectory, defaults } = places;
  const { config, entry } = generateWorkerConfig({
    worker,
    purpose,
    brokerName: broker.name,
    directory,
    workingDirectory,
    defaults,
  });
  if (entry.kind === "untouched") return generated(worker.name, directory, worker, config, {});
  const compatibility = queueCompatibility(worker.wrangler);
  const runtime = relativePath(directory, places.runtime.worker);
  const sharesCalls = compatibility.resolvesAcrossRequests && !hasDurableObjects(worker.wrangler);
  const behaviour = { ...compatibility, sharesCalls };
  const bindings = { [BINDINGS_FILE]: bindingsSource(worker.queues.producers, behaviour, runtime) };
  return generated(worker.name, directory, worker, config, {
    ...(entry.hasBindings ? bindings : {}),
    [ENTRY_FILE]: workerEntrySource({
      userMain: entry.userMain,
      main: worker.main,
      hasBindings: entry.hasBindings,
      frontDoor: entry.frontDoor,
      consumes: consumes(worker),
      waitForWaitUntil: compatibility.waitForWaitUntil,
      runtime,
    }),
  });
}

function planBroker(project: Project, purpose: Purpose["kind"], places: Places): GeneratedWorker {
  const { broker: base, topology, workers } = project;
  const directory = join(places.outputDirectory, base.name);
  const consumers = consumerBindings(consumersIn(topology));
  const { workingDirectory, defaults, environment } = places;
  // For `sluice dev` alone: it allows to move the clock and opens the API, which a deployed broker must never do.
  const all =
    purpose === "dev" ? devVars(workers[0]?.wrangler, environment, endpointVariables(topology)) : {};
  // A broker with a folder of its own has a file of secrets there, which takes this one's place.
  const isSecret = (name: string) =>
    base.file === null && [...SECRET_SETTINGS, ...endpointVariables(topology)].includes(name);
  const [secrets, vars] = [true, false].map((wanted) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => isSecret(name) === wanted)),
  ) as [Record<string, string>, Record<string, string>];
  const config = generateBrokerConfig({
    ...{ base, consumers, purpose, vars, directory, workingDirectory, defaults },
  });
  // A broker that we made up has no folder of its own in which somebody would run Wrangler.
  const wranglerDirectory = base.file === null ? null : base.directory;
  const of = { userDirectory: base.directory, wranglerDirectory };
  return generated(base.name, directory, of, config, {
    [TOPOLOGY_FILE]: json(topology),
    [ENTRY_FILE]: brokerEntrySource(consumers, relativePath(directory, places.runtime.broker)),
    ...(purpose === "dev" && base.file === null ? { ".dev.vars": devVarsFile(secrets) } : {}),
  });
}

/** Names of the Workers that consume anything, wherever they run. */
function consumersIn({ queues }: QueueTopology): string[] {
  return [
    ...new Set(
      Object.values(queues).flatMap(({ consumer }) => (consumer?.type === "worker" ? consumer.worker : [])),
    ),
  ];
}

function generated(
  name: string,
  directory: string,
  { userDirectory, wranglerDirectory }: Pick<GeneratedWorker, "userDirectory" | "wranglerDirectory">,
  config: GeneratedConfig,
  sources: Readonly<Record<string, string>>,
): GeneratedWorker {
  const configFile = "wrangler.json";
  const files = { ...sources, [configFile]: json(config) };
  return {
    name,
    directory,
    configFile: join(directory, configFile),
    files,
    userDirectory,
    wranglerDirectory,
  };
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
