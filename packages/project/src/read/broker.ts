import { readFileSync } from "node:fs";
import {
  ConfigError,
  errorAt,
  findConfigFile,
  formatDiagnostic,
  isCloudflareConfig,
  type WorkerQueueConfig,
} from "@sluice/config";
import type { Unstable_Config } from "wrangler";
import { BROKER_CLASS, BROKER_NAME } from "../names.ts";
import { omit } from "../wrangler/relocate.ts";
import type { ConfigReader } from "./config-reader.ts";

/** The broker's Worker, as the user's configuration describes it or by default. */
export interface BrokerBase {
  /** Name with the environment suffix. */
  readonly name: string;
  /** Absolute path of its configuration's folder, or of the current one. */
  readonly directory: string;
  /** Its configuration file; `null` where it has none. */
  readonly file: string | null;
  /** Wrangler's reading of its configuration; `null` where it has none. */
  readonly wrangler: Unstable_Config | null;
}

/** The broker of a project, with the queues of its own configuration if it has one. */
export interface Broker {
  readonly base: BrokerBase;
  readonly queues: WorkerQueueConfig | null;
  /** Texts that are ready to print. */
  readonly warnings: readonly string[];
}

/**
 * Reads the broker of a configuration file; `null` if the file is an ordinary Worker's.
 *
 * A broker's configuration need not have every environment of its Workers. For a missing environment its top level is
 * used, and its name gets the environment's suffix. So each environment has its own broker, and staging and production
 * never share a queue.
 *
 * @param env environment, "" for the top level.
 */
export async function readBroker(file: string, env: string, reader: ConfigReader): Promise<Broker | null> {
  if (isCloudflareConfig(file)) return readBrokerModule(file, env, reader);
  const topLevel = await reader.wrangler(file, { env: "", quiet: true }).catch(async (error: unknown) => {
    // Our reader names the line of a syntax error, which Wrangler does not.
    await reader.queues(file, "");
    throw error;
  });
  if (!isBroker(topLevel.config)) return null;
  const hasEnvironment = env !== "" && topLevel.config.definedEnvironments?.includes(env) === true;
  const { config } = hasEnvironment ? await reader.wrangler(file, { env, quiet: true }) : topLevel;
  const queues = await reader.queues(file, hasEnvironment ? env : "");
  const name = hasEnvironment ? (config.name ?? BROKER_NAME) : brokerName(config.name ?? BROKER_NAME, env);
  return brokerOfFile(file, name, config, queues);
}

/**
 * Reads the broker of a `cloudflare.config.ts`. A file without the name of the broker's class is a Worker's, and is not
 * run for that. A broker that has the same name in each mode gets the suffix of the mode, as the top level of a
 * Wrangler configuration does.
 */
async function readBrokerModule(file: string, mode: string, reader: ConfigReader): Promise<Broker | null> {
  if (!readFileSync(file, "utf8").includes(BROKER_CLASS)) return null;
  const { config } = await reader.wrangler(file, { env: mode, quiet: true });
  if (!isBroker(config)) return null;
  const queues = await reader.queues(file, mode);
  const name = brokerName(plainName(config.name ?? BROKER_NAME, mode), mode);
  return brokerOfFile(file, name, config, queues);
}

function brokerOfFile(
  file: string,
  name: string,
  config: Unstable_Config,
  queues: WorkerQueueConfig,
): Broker {
  return {
    base: { name, directory: queues.directory, file, wrangler: withOwnClasses(config) },
    queues,
    warnings: queues.warnings.map(formatDiagnostic),
  };
}

/**
 * Removes the broker's name from the bindings to its own classes, since its name may get a suffix, and the classes from
 * `exports`, since the generated migration creates them and Wrangler takes either that or `exports`.
 */
function withOwnClasses(config: Unstable_Config): Unstable_Config {
  const { name, durable_objects, exports } = config;
  const bindings = durable_objects.bindings.map((binding) =>
    binding.script_name === name ? omit(binding, "script_name") : binding,
  );
  const others = Object.entries(exports ?? {}).filter(([, { type }]) => type !== "durable-object");
  return {
    ...omit(config, "exports"),
    ...(others.length === 0 ? {} : { exports: Object.fromEntries(others) }),
    durable_objects: { ...durable_objects, bindings },
  } as Unstable_Config;
}

/** Makes the broker of a project whose current folder has none. */
export function defaultBroker(directory: string, env: string): Broker {
  const base = { name: brokerName(BROKER_NAME, env), directory, file: null, wrangler: null };
  return { base, queues: null, warnings: [] };
}

/**
 * Makes a broker that runs without Workers, with the `[sluice]` table of a configuration without code. A configuration
 * with code is not used, and gives a warning: its user may have meant to run that Worker.
 *
 * @param file configuration of the current folder.
 */
export async function brokerAlone(
  directory: string,
  env: string,
  file: string,
  reader: ConfigReader,
): Promise<Broker> {
  const broker = defaultBroker(directory, env);
  const read = await reader.queues(file, env);
  const { config } = await reader.wrangler(file, { env, quiet: true });
  if (config.main !== undefined || config.assets !== undefined || config.site !== undefined) {
    const text = 'The Worker of this folder does not run: "sluice serve ." runs it.';
    return { ...broker, warnings: [`${file}: warning: ${text}`] };
  }
  // Such a configuration needs no name, because no client uses it.
  const warnings = read.warnings.filter(({ key }) => key !== "name");
  const queues = { ...read, producers: [], consumers: [], warnings };
  return { ...broker, queues, warnings: warnings.map(formatDiagnostic) };
}

/**
 * Returns the name of a broker's Worker on an account.
 *
 * @param files configurations that may name it, for the place of an error.
 * @param option name from the command line; `null` for none.
 * @param named name from `[sluice] broker`; `null` where no file has it.
 * @throws ConfigError where `named` differs from the name in the broker's own configuration.
 */
export function brokerOnAccount(
  { base }: Broker,
  files: readonly WorkerQueueConfig[],
  option: string | null,
  named: string | null,
  env: string,
): string {
  if (option !== null) return brokerName(option, env);
  if (named === null) return base.name;
  if (base.file === null) return brokerName(named, env);
  const own = isCloudflareConfig(base.file)
    ? plainName(base.name, env)
    : (base.wrangler?.topLevelName ?? base.name);
  if (own === named) return base.name;
  const place = files.find(({ broker }) => broker !== undefined);
  const text = `"sluice.broker" is "${named}", and the broker's own configuration calls it "${own}" (${base.file})`;
  throw new ConfigError([
    errorAt(place?.settingsFile ?? place?.file ?? base.file, place?.lines?.broker, text),
  ]);
}

/** Finds the configuration file of a folder, if there is one. */
export function configFileIn(directory: string): string | null {
  try {
    return findConfigFile(directory);
  } catch {
    return null;
  }
}

function brokerName(name: string, env: string): string {
  return env === "" ? name : `${name}-${env}`;
}

function plainName(name: string, env: string): string {
  const suffix = brokerName("", env);
  return suffix !== "" && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
}

/** Whether a configuration is a broker's: it defines the Durable Object class of the queues itself. */
export function isBroker({ name, durable_objects, exports }: Unstable_Config): boolean {
  return (
    exports?.[BROKER_CLASS]?.type === "durable-object" ||
    durable_objects.bindings.some(
      ({ class_name, script_name = name }) => class_name === BROKER_CLASS && script_name === name,
    )
  );
}
