import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, extname, isAbsolute, join, normalize, relative, resolve, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { PluginConfig, WorkerConfig } from "@cloudflare/vite-plugin";
import {
  buildTopology,
  readCloudflareConfig,
  readWorkerConfig,
  type WorkerQueueConfig,
} from "@sluice/config";
import { watchKept } from "@sluice/local/data/data-lock";
import { CliError } from "@sluice/project/errors";
import { makeOutputFolder, OUTPUT_FOLDER, writeIfChanged } from "@sluice/project/files/write-plan";
import { consumerBindings, generateBrokerConfig } from "@sluice/project/generate/broker-config";
import { brokerEntrySource, TOPOLOGY_FILE } from "@sluice/project/generate/broker-entry";
import { devVars } from "@sluice/project/generate/dev-vars";
import { ENTRY_FILE } from "@sluice/project/generate/worker-config";
import { CONSOLE_FILE, consoleSource } from "@sluice/project/generate/worker-entry";
import {
  BINDING_ENTRYPOINT,
  BROKER_BINDING,
  BROKER_CLASS,
  BROKER_NAME,
  DIRECTORY_CLASS,
  LAST_END_VARIABLE,
  PAGE_FILE,
  QUEUES_BINDING,
  QUEUES_DIRECTORY_BINDING,
} from "@sluice/project/names";
import { ownModule, RUNS_FROM_SOURCE } from "@sluice/project/own-module";
import { type FrontDoor, SLUICE_PATH } from "@sluice/project/runtime/front-door-contract";
import {
  FLAG_DISALLOW_IMPORTABLE_ENV,
  flagsWithRpc,
  queueCompatibility,
} from "@sluice/project/wrangler/compatibility";
import { relativePath } from "@sluice/project/wrangler/relocate";
import { endpointVariables, type QueueTopology } from "@sluice/protocol";
import { defu } from "defu";
import type { Unstable_Config } from "wrangler";
import type { CloudflareConfig } from "./cloudflare-config.ts";
import { lastEndOf, type PersistState, takeData } from "./data.ts";
import { askOtherMachines } from "./other-machines.ts";
import { SCRIPTS } from "./scripts.ts";
import { nameStacks } from "./stacks.ts";
import { routingWithBroker } from "./static-routing.ts";
import { BINDINGS_FILE, bindingsSource, entrySource } from "./worker-source.ts";

/** Absolute paths of our modules for Workers: TypeScript from source, JavaScript beside the package's bundle. */
const WORKER_MODULE = ownModule(new URL("./worker/worker.ts", import.meta.url), "worker/worker.js");
const BROKER_MODULE = ownModule(new URL("./worker/broker.ts", import.meta.url), "worker/broker.js");

/** Reads the archive of the page at `/__sluice/`, which is empty when this runs from source. */
function pageArchive(): Uint8Array {
  return RUNS_FROM_SOURCE ? new Uint8Array() : readFileSync(new URL(`./${PAGE_FILE}`, import.meta.url));
}

/**
 * Code at the end of the broker's entry under Vite. A changed broker restarts the server; until then this keeps Vite
 * from reloading it, because a second queue object would work on the first one's data. It also asks each queue for its
 * state, which wakes a queue with messages and a new consumer. Queues do not answer before Vite knows the broker's
 * classes, and the code runs again then.
 */
const IN_VITE = `
import { env } from "cloudflare:workers";
import.meta.hot?.accept(() => {});
const asked = new Request("http://localhost${SLUICE_PATH}/api/queues");
broker.own.fetch(asked, env, { waitUntil() {} }).catch(() => {});
`;

type Context = { readonly entryWorkerConfig: unknown };
/** `config` of Cloudflare's options: a part of a configuration, or a function that changes one or returns a part. */
type Customizer = Partial<WorkerConfig> | ((config: WorkerConfig, context: never) => unknown) | undefined;

/** Options of Cloudflare's plugin with `persistState` filled in, whose path is made absolute later. */
export type ProjectOptions = Omit<PluginConfig, "persistState"> & { readonly persistState: PersistState };

/**
 * Workers of a project. Cloudflare's plugin passes their configurations one after the other: the entry's, the auxiliary
 * Workers', the broker's.
 */
export class WorkersOfProject {
  readonly #options: ProjectOptions;
  readonly #module: CloudflareConfig | null;
  readonly #queues: WorkerQueueConfig[] = [];
  #entry: WorkerConfig | undefined;
  #root = process.cwd();

  /** @param module configuration of the entry's Worker, where that is a `cloudflare.config.ts`. */
  constructor(options: ProjectOptions, module: CloudflareConfig | null = null) {
    this.#options = options;
    this.#module = module;
  }

  /** Changes the configuration in place, because Vite would append returned lists to the existing ones. */
  takeEntry(config: WorkerConfig, customizer: Customizer): void {
    const chosen = this.#options.configPath ?? process.env.CLOUDFLARE_VITE_WRANGLER_CONFIG_PATH;
    if (config.configPath !== undefined) this.#root = rootOf(config.configPath, chosen);
    takeData(this.#options.persistState, this.#root);
    this.#entry = config;
    this.#take(config, customizer, undefined, true);
  }

  takeAuxiliary(config: WorkerConfig, customizer: Customizer, context: Context): void {
    this.#take(config, customizer, context, false);
  }

  /** @param defaults Wrangler's reading of an empty configuration, which becomes the broker's. */
  makeBroker(defaults: WorkerConfig): void {
    const topology = buildTopology(this.#queues);
    const name = brokerName();
    const namesake = this.#queues.find(({ workerName }) => workerName === name);
    if (namesake !== undefined) {
      throw new CliError(
        `${namesake.file}: "${name}" is the name of the broker. Give this Worker another name.`,
      );
    }
    const consumers = consumerBindings(consumersIn(topology));
    const { persistState } = this.#options;
    if (persistState !== false) watchKept(persistState.path, name);
    const directory = this.#folderOf(name);
    const generated = generateBrokerConfig({
      base: { name, directory: this.#root, file: null, wrangler: null },
      consumers,
      directory,
      purpose: "dev",
      vars: this.#brokerVars(topology),
      workingDirectory: this.#root,
      defaults: defaults as unknown as Unstable_Config,
      main: { file: ENTRY_FILE, isReady: false },
    });
    makeOutputFolder(join(this.#root, OUTPUT_FOLDER));
    writeIfChanged(join(directory, TOPOLOGY_FILE), `${JSON.stringify(topology, null, 2)}\n`);
    writeIfChanged(join(directory, PAGE_FILE), pageArchive());
    const entry = join(directory, ENTRY_FILE);
    writeIfChanged(
      entry,
      `${brokerEntrySource(consumers, relativePath(directory, BROKER_MODULE))}${IN_VITE}`,
    );
    const vars = { ...(generated.vars as object) };
    const file = this.#entry?.configPath;
    askOtherMachines(vars, file === undefined ? null : dirname(file), process.env.CLOUDFLARE_ENV ?? "");
    nameStacks(vars, this.#root);
    // Cloudflare's plugin starts workerd once more for an entrypoint that no binding has named before.
    const own = { binding: BINDING_ENTRYPOINT, service: name, entrypoint: BINDING_ENTRYPOINT };
    const services = [...((generated.services ?? []) as readonly object[]), own];
    Object.assign(defaults, generated, { main: entry, vars, services });
  }

  #brokerVars(topology: QueueTopology): Record<string, string> {
    const { persistState } = this.#options;
    const environment =
      persistState === false
        ? process.env
        : { ...process.env, [LAST_END_VARIABLE]: lastEndOf(persistState.path) };
    const entry = this.#entry as unknown as Unstable_Config | undefined;
    return devVars(entry, environment, endpointVariables(topology));
  }

  #take(config: WorkerConfig, customizer: Customizer, context: Context | undefined, isEntry: boolean): void {
    const queuesOfFile = structuredClone(config.queues);
    customize(config, customizer, context);
    const { configPath: file, main } = config;
    // Tables of a TOML file have no prototype, and copies have one.
    if (!isDeepStrictEqual(structuredClone(config.queues), queuesOfFile)) {
      throw new CliError(
        `${file ?? config.name}: "config" of the Vite plugin changes "queues". Write them in the file.`,
      );
    }
    if (file === undefined || main === undefined) return;
    refuseMissingMain(file, main);
    const module = isEntry ? this.#module : null;
    const read =
      module === null
        ? readWorkerConfig(file, { env: process.env.CLOUDFLARE_ENV ?? "" })
        : readCloudflareConfig(module.file, module.converted, module.mode);
    const queues = { ...read, workerName: config.name ?? read.workerName };
    this.#refuseNamesake(queues);
    this.#queues.push(queues);
    const consumes = queues.consumers.some(({ type }) => type === "worker");
    const produces = queues.producers.length > 0;
    if (!isEntry && !consumes && !produces) return;
    const { workerName: name, producers } = queues;
    const directory = this.#folderOf(name);
    const frontDoor = isEntry ? openFrontDoor(config) : null;
    const source = {
      name,
      producers,
      consumes,
      frontDoor,
      compatibility: queueCompatibility(config),
      main: this.#specifierOf(main, file, directory),
      runtime: relativePath(directory, WORKER_MODULE),
    };
    writeIfChanged(join(directory, BINDINGS_FILE), bindingsSource(source));
    if (consumes) writeIfChanged(join(directory, CONSOLE_FILE), consoleSource(source.runtime));
    writeIfChanged(join(directory, ENTRY_FILE), entrySource(source));
    config.main = join(directory, ENTRY_FILE);
    config.queues = { producers: [], consumers: [] };
    leadToBroker(config, { needsRpc: produces || consumes, produces, isEntry });
  }

  /** Refuses two Workers of one name. Cloudflare's plugin would report an environment that exists already. */
  #refuseNamesake({ workerName: name, file }: WorkerQueueConfig): void {
    const other = this.#queues.find((one) => one.workerName === name && one.file !== file);
    if (other === undefined) return;
    throw new CliError(
      `${file}: "${name}" is the name of the Worker of ${other.file} too. Give one of them another name.`,
    );
  }

  #folderOf(worker: string): string {
    return join(this.#root, OUTPUT_FOLDER, "vite", this.#module?.mode ?? "", worker);
  }

  /** Makes the specifier of a Worker's main module. Cloudflare's plugin leaves a name without extension to Vite. */
  #specifierOf(main: string, file: string, directory: string): string {
    if (SCRIPTS.has(extname(main))) return relativePath(directory, resolve(dirname(file), main));
    return main.startsWith(".") ? relativePath(directory, resolve(this.#root, main)) : main;
  }
}

/**
 * Refuses a missing main module in Wrangler's words, with the path that the user knows. A `main` that is not a script
 * is a module that Vite finds or makes.
 */
function refuseMissingMain(file: string, main: string): void {
  const directory = dirname(file);
  const path = resolve(directory, main);
  if (!SCRIPTS.has(extname(main)) || existsSync(path)) return;
  throw new CliError(`${file}: The entry-point file at "${relative(directory, path)}" was not found.`);
}

/**
 * Finds Vite's root, which no configuration contains: Cloudflare's plugin looks there for the entry's configuration.
 * For a configuration that was chosen elsewhere, it is that one's folder.
 *
 * @param file absolute path of the configuration.
 * @param chosen its name in the options, relative to the root.
 */
export function rootOf(file: string, chosen: string | undefined): string {
  const path = normalize(chosen ?? basename(file));
  if (!isAbsolute(path) && file.endsWith(`${sep}${path}`)) return file.slice(0, -path.length - 1) || sep;
  return resolve(path) === file ? process.cwd() : dirname(file);
}

interface Leading {
  readonly needsRpc: boolean;
  readonly produces: boolean;
  readonly isEntry: boolean;
}

function leadToBroker(config: WorkerConfig, { needsRpc, produces, isEntry }: Leading): void {
  const script_name = brokerName();
  const queues = { name: QUEUES_BINDING, class_name: BROKER_CLASS, script_name };
  const directory = { name: QUEUES_DIRECTORY_BINDING, class_name: DIRECTORY_CLASS, script_name };
  const { durable_objects: objects } = config;
  if (produces) config.durable_objects = { ...objects, bindings: [...objects.bindings, queues, directory] };
  const flags = needsRpc ? flagsWithRpc({ ...config }) : config.compatibility_flags;
  // Without the importable `env` the bindings could not be read.
  config.compatibility_flags = flags.filter((flag) => flag !== FLAG_DISALLOW_IMPORTABLE_ENV);
  if (!isEntry) return;
  config.services = [...(config.services ?? []), { binding: BROKER_BINDING, service: brokerName() }];
}

/** Changes the routing of an entry Worker so that it gets the broker's paths. */
function openFrontDoor(config: WorkerConfig): FrontDoor {
  const { assets, compatibility_flags, frontDoor } = routingWithBroker(config);
  if (assets !== undefined) config.assets = assets;
  config.compatibility_flags = compatibility_flags;
  return frontDoor;
}

/** Returns the name of the broker, which each environment has. */
function brokerName(): string {
  const env = process.env.CLOUDFLARE_ENV ?? "";
  return env === "" ? BROKER_NAME : `${BROKER_NAME}-${env}`;
}

/** Applies the user's part as Cloudflare's plugin does, but before our changes, which take precedence. */
function customize(config: WorkerConfig, customizer: Customizer, context: Context | undefined): void {
  const part = typeof customizer === "function" ? customizer(config, context as never) : customizer;
  if (part) Object.assign(config, defu(part, config));
}

function consumersIn({ queues }: QueueTopology): string[] {
  const all = Object.values(queues).flatMap(({ consumer }) =>
    consumer?.type === "worker" ? consumer.worker : [],
  );
  return [...new Set(all)];
}
