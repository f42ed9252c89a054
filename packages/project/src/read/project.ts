import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import {
  buildTopology,
  CLOUDFLARE_CONFIG,
  CONFIG_FILE_NAMES,
  type DeploymentNames,
  deploymentNames,
  findConfigFile,
  formatDiagnostic,
  isCloudflareConfig,
  type ReadModules,
  unnamedQueues,
  type WorkerQueueConfig,
} from "@sluice/config";
import type { QueueDefinition, QueueTopology } from "@sluice/protocol";
import { CliError } from "../errors.ts";
import { readToolsRedirect } from "../files/redirect.ts";
import type { Register } from "../register/register.ts";
import {
  type Broker,
  type BrokerBase,
  brokerAlone,
  brokerOnAccount,
  configFileIn,
  defaultBroker,
  readBroker,
} from "./broker.ts";
import { environmentOfBuilds, refuseUnknownEnvironment } from "./build-environment.ts";
import {
  type BuiltConfig,
  findBuildOutput,
  findCloudflareOutput,
  projectOfOutputFolder,
} from "./build-output.ts";
import { ConfigReader, filesBeside } from "./config-reader.ts";
import { consumersElsewhere, elsewhereLines } from "./elsewhere.ts";
import { readWorker, type WorkerSource } from "./read-worker.ts";
import type { UserWorker } from "./worker.ts";

const NO_NAMES: DeploymentNames = { broker: null, project: null };

/** Workers, broker and queues of a command, as the user's files describe them. */
export interface Project {
  /** Environment in which the files were read, "" for the top level. For an account it may be that of a build. */
  readonly env: string;
  /** Workers in the order of the command line: the first is the primary one. Empty when the broker runs alone. */
  readonly workers: readonly UserWorker[];
  readonly broker: BrokerBase;
  /** Queue tables of the broker's own configuration; `null` where it has none. */
  readonly brokerQueues: WorkerQueueConfig | null;
  /** Names of broker and project in the files; all `null` unless they are read for an account (`onAccount`). */
  readonly names: DeploymentNames;
  readonly topology: QueueTopology;
  /** Projects that a deployed broker serves; absent for commands that do not deploy. */
  readonly register?: Register;
  /** Workers of the topology that the broker is not bound to. Default: none. */
  readonly unbound?: readonly string[];
  /** Names of Workers in other processes that consume queues of these Workers. */
  readonly elsewhere: readonly string[];
  /** Absolute paths of further files that configurations consist of, such as modules that they import. */
  readonly dependencies: readonly string[];
  /** The queues of each `cloudflare.config.ts` among these Workers' files. */
  readonly modules: ReadModules;
  /** Warnings of Wrangler and of the configuration reader, ready to print. */
  readonly warnings: readonly string[];
}

export interface ProjectOptions {
  /** Folders or configuration files. */
  readonly targets: readonly string[];
  /** Meaning of an empty list of targets. Default: the Worker in the current folder. */
  readonly withoutTargets?: "current-folder" | "broker-alone" | "senders-alone";
  /** Name of the command, for advice in error texts. Default: `dev`. */
  readonly command?: string;
  /** Environment, "" for the top level. */
  readonly env: string;
  /** Absolute path. */
  readonly workingDirectory: string;
  /** Queues that the command itself defines. A file's settings of the same queue take precedence. */
  readonly queues?: QueueTopology["queues"];
  /** Configuration files of Workers that other processes run in the same environment. Default: none. */
  readonly filesElsewhere?: readonly string[];
  /** Configuration files of such Workers that use the broker of this process. All of their queues count. */
  readonly filesJoined?: readonly string[];
  /** Configuration files of Workers that other processes do not run, but for which they send by this broker. */
  readonly filesSending?: readonly string[];
  /** Queues of each `cloudflare.config.ts` of other processes, as read there. Default: such files are left out. */
  readonly modulesElsewhere?: ReadModules;
  /** Name of the broker's Worker, under which its data are stored. Default: that of its configuration. */
  readonly brokerName?: string | null;
  /** Present for a command about an account, where the files or `--broker` name the broker. */
  readonly onAccount?: { readonly broker?: string | undefined };
}

/**
 * Reads the configurations of all Workers that the command names, and the broker's if the current folder has it.
 *
 * @throws ConfigError or CliError for the first file that cannot be used, or for files that contradict each other.
 */
export async function readProject(given: ProjectOptions): Promise<Project> {
  const sources = workerSources(given);
  const { onAccount } = given;
  const env = onAccount === undefined ? given.env : environmentOfBuilds(sources, given.env);
  const options = { ...given, env };
  const reader = new ConfigReader();
  const found = await findBroker(
    sources.map(({ file }) => file),
    options,
    reader,
  );
  const read = [];
  for (const source of sources) {
    if (source.file === found.base.file) continue;
    const reading = await readWorker(source, env, reader);
    if (onAccount !== undefined) refuseUnknownEnvironment(source, reading.worker, env);
    read.push(reading);
  }
  const workers = read.map(({ worker }) => worker);
  const own = workers.map(({ queues }) => queues);
  const here = [...own, ...(found.queues === null ? [] : [found.queues])];
  const names = onAccount === undefined ? NO_NAMES : deploymentNames(here);
  const brokerName = brokerOnAccount(found, here, onAccount?.broker ?? null, names.broker, env);
  const broker = { ...found, base: { ...found.base, name: options.brokerName ?? brokerName } };
  const namesake = workers.find(({ name }) => name === broker.base.name);
  if (namesake !== undefined) {
    throw new CliError(
      `${namesake.file}: "${namesake.name}" is the name of the broker. Give this Worker another name.`,
    );
  }
  const { filesJoined = [], filesElsewhere = [], filesSending = [] } = options;
  const joined = await readElsewhere(filesJoined, options, reader);
  const others = await readElsewhere(filesElsewhere, options, reader);
  const sending = await readElsewhere(filesSending, options, reader);
  const besideModules = [...filesJoined, ...filesElsewhere, ...filesSending]
    .filter(isCloudflareConfig)
    .flatMap((file) => filesBeside(dirname(file)));
  const senders = sendersAmong(sending, [...own, ...joined]);
  const farConsumers = consumersElsewhere([...own, ...joined, ...senders], others);
  const { topology, elsewhere, warnings } = withElsewhere(here, [...joined, ...senders, ...farConsumers]);
  const consumersUsed = elsewhere.length === 0 ? [] : farConsumers;
  return {
    env,
    workers,
    broker: broker.base,
    brokerQueues: broker.queues,
    names,
    topology: { ...topology, queues: withQueues(topology.queues, options.queues ?? {}) },
    elsewhere: elsewhere.map(({ workerName }) => workerName),
    dependencies: [...new Set([...(await reader.dependencies()), ...besideModules])],
    modules: await reader.modules(),
    warnings: [
      ...read.flatMap((reading) => reading.warnings),
      ...broker.warnings,
      ...warnings,
      ...unnamedQueues(here, [...here, ...joined, ...others, ...sending]).map(formatDiagnostic),
      ...elsewhereLines(consumersUsed),
    ],
  };
}

/**
 * Builds the topology of the Workers here together with those of other processes. If these contradict the Workers here,
 * they are left out with a warning: other processes never keep this one from running.
 */
function withElsewhere(here: readonly WorkerQueueConfig[], elsewhere: readonly WorkerQueueConfig[]) {
  try {
    return { topology: buildTopology([...here, ...elsewhere]), elsewhere, warnings: [] };
  } catch (error) {
    if (elsewhere.length === 0) throw error;
    const topology = buildTopology(here);
    const reason = error instanceof Error ? error.message : error;
    const text = `Workers of other processes are left out, since they do not fit with these Workers:\n${reason}`;
    return { topology, elsewhere: [], warnings: [text] };
  }
}

/** Adds the queues of the command to those of the files. A queue of both has the file's settings. */
function withQueues(
  ofFiles: QueueTopology["queues"],
  ofCommand: QueueTopology["queues"],
): QueueTopology["queues"] {
  const both = Object.entries(ofFiles).map(([name, definition]): [string, QueueDefinition] => [
    name,
    { ...definition, consumer: definition.consumer ?? ofCommand[name]?.consumer ?? null },
  ]);
  return { ...ofCommand, ...Object.fromEntries(both) };
}

/** Reads files of other processes. A broken file is left out: the process that runs its Worker reports it. */
async function readElsewhere(
  files: readonly string[],
  { env, modulesElsewhere = {} }: ProjectOptions,
  reader: ConfigReader,
): Promise<WorkerQueueConfig[]> {
  const readings = files.map((file) => reader.queuesElsewhere(file, env, modulesElsewhere).catch(() => null));
  return (await Promise.all(readings)).filter((queues) => queues !== null);
}

/**
 * Picks the Workers that do not run but for which a process sends. Of their consumers only those that are not Workers
 * count.
 */
function sendersAmong(
  senders: readonly WorkerQueueConfig[],
  run: readonly WorkerQueueConfig[],
): WorkerQueueConfig[] {
  const files = new Set(run.map(({ file }) => file));
  return senders
    .filter(({ file }) => !files.has(file))
    .map((sender) => ({ ...sender, consumers: sender.consumers.filter(({ type }) => type !== "worker") }));
}

function workerSources(options: ProjectOptions): WorkerSource[] {
  const { targets, workingDirectory, withoutTargets, command = "dev" } = options;
  if (targets.length > 0)
    return withoutOriginals(targets.flatMap((target) => sourcesAt(resolve(workingDirectory, target))));
  if (withoutTargets === "broker-alone" || withoutTargets === "senders-alone") return [];
  const built = builtSources(workingDirectory);
  if (built.length > 0) return built;
  const file = configFileIn(workingDirectory);
  if (file !== null) return sourcesOf(file);
  throw new CliError(
    `There is no ${[...CONFIG_FILE_NAMES, CLOUDFLARE_CONFIG].join(", ")} in ${workingDirectory}.\n` +
      `Run this in the folder of a Worker, or name the folders of your Workers: sluice ${command} apps/producer apps/consumer`,
  );
}

/**
 * Lists the Workers to run for a file or a folder: in a folder the Workers of a build tool, else the one of its
 * configuration.
 */
function sourcesAt(target: string): WorkerSource[] {
  const isFolder = statSync(target, { throwIfNoEntry: false })?.isDirectory() === true;
  const project = isFolder ? projectOfOutputFolder(target) : null;
  if (project !== null) return outputSources(project, findCloudflareOutput(project).configs);
  const built = isFolder ? builtSources(target) : [];
  return built.length > 0 ? built : sourcesOf(findConfigFile(target));
}

/**
 * Lists the Workers to run for a configuration file. The first file of a build stands for the whole build. The data of
 * a built Worker are kept in the user's folder, which the build names, since the next build empties the build's folder.
 */
function sourcesOf(file: string): WorkerSource[] {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const redirect = readToolsRedirect(folder);
    if (redirect !== null && [redirect.configFile, ...redirect.auxiliary].includes(file)) {
      const built = builtSources(folder);
      const place = built.findIndex((source) => source.file === file);
      if (place >= 0) return place === 0 ? built : built.slice(place, place + 1);
    }
    if (dirname(folder) === folder) return [{ kind: "written", file }];
  }
}

/** Lists the Workers of a build tool's output; empty where there is none. */
function builtSources(folder: string): WorkerSource[] {
  const configs = findBuildOutput(folder);
  if (configs.length === 0) return builtByCloudflare(folder);
  // The redirect leads to the folder's own configuration, because the folder is below a built one: not a build tool's.
  if (configs[0]?.file === configFileIn(folder)) return [];
  return configs.map((config, i) => ({
    kind: "built",
    ...config,
    ...(i === 0
      ? { userDirectory: folder, wranglerDirectory: folder }
      : { userDirectory: dirname(config.file), wranglerDirectory: null }),
  }));
}

/**
 * Lists the Workers of Build Output that count for a folder. None do beside a Wrangler configuration, of which no Build
 * Output is made. Nor does the output of Wrangler beside its sources, which may be newer: Sluice has Wrangler bundle
 * these.
 */
function builtByCloudflare(folder: string): WorkerSource[] {
  const file = configFileIn(folder);
  if (file !== null && !isCloudflareConfig(file)) return [];
  const { configs, producer } = findCloudflareOutput(folder);
  return producer === "wrangler" && file !== null ? [] : outputSources(folder, configs);
}

/** Makes the sources for Workers of Build Output. Their secrets are in the folder of the project. */
function outputSources(project: string, configs: readonly BuiltConfig[]): WorkerSource[] {
  return configs.map((config, i) => ({
    kind: "built",
    ...config,
    userDirectory: project,
    wranglerDirectory: i === 0 ? project : null,
  }));
}

/** Removes repetitions, and the configurations that a listed build was made from. */
function withoutOriginals(sources: readonly WorkerSource[]): WorkerSource[] {
  const originals = new Set(sources.map((source) => (source.kind === "built" ? source.madeFrom : null)));
  const rest = sources.filter(({ file }) => !originals.has(file));
  return [...new Map(rest.map((source) => [source.file, source])).values()];
}

/** Finds the broker among the files or in the current folder, else makes the default one. */
async function findBroker(
  files: readonly string[],
  { targets, workingDirectory, withoutTargets, env }: ProjectOptions,
  reader: ConfigReader,
): Promise<Broker> {
  const here = configFileIn(workingDirectory);
  for (const file of new Set(here === null ? files : [...files, here])) {
    const broker = await readBroker(file, env, reader);
    if (broker !== null) return broker;
  }
  const isAlone = targets.length === 0 && withoutTargets === "broker-alone";
  return isAlone && here !== null
    ? brokerAlone(workingDirectory, env, here, reader)
    : defaultBroker(workingDirectory, env);
}
