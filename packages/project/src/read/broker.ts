import {
  ConfigError,
  errorAt,
  findConfigFile,
  formatDiagnostic,
  readWorkerConfig,
  type WorkerQueueConfig,
} from "@sluice/config";
import type { Unstable_Config } from "wrangler";
import { BROKER_CLASS, BROKER_NAME } from "../names.ts";
import { readWranglerConfig } from "../wrangler/wrangler-config.ts";

/** The broker Worker as a configuration of the user's describes it, or as we do where there is none. */
export interface BrokerBase {
  /** Environment suffix included. */
  readonly name: string;
  /** Folder of its configuration, or the current one. Absolute. */
  readonly directory: string;
  /** Its configuration file; `null` where we made it up. */
  readonly file: string | null;
  /** `null` where we made it up: what Wrangler makes of an empty configuration. */
  readonly wrangler: Unstable_Config | null;
}

/** The broker of a project, and what its own configuration says of queues if it has one. */
export interface Broker {
  readonly base: BrokerBase;
  readonly queues: WorkerQueueConfig | null;
  /** Ready to print. */
  readonly warnings: readonly string[];
}

/**
 * The broker that a configuration file describes, or `null` if it is an ordinary Worker's.
 *
 * A broker need not spell out every environment of the Workers it serves: without a section of its own it is its top
 * level under the environment's name. Each environment gets a broker, as it gets Workers, so that staging and
 * production never share a queue.
 *
 * @param env the environment, "" for the top level.
 */
export async function readBroker(file: string, env: string): Promise<Broker | null> {
  const topLevel = await readWranglerConfig(file, { env: "", quiet: true }).catch((error: unknown) => {
    // Our own reader says of a broken file where it is broken, which Wrangler does not.
    readWorkerConfig(file);
    throw error;
  });
  if (!isBroker(topLevel.config)) return null;
  const isSpelledOut = env !== "" && topLevel.config.definedEnvironments?.includes(env) === true;
  const { config } = isSpelledOut ? await readWranglerConfig(file, { env, quiet: true }) : topLevel;
  const queues = readWorkerConfig(file, isSpelledOut ? { env } : {});
  const name = isSpelledOut ? (config.name ?? BROKER_NAME) : brokerName(config.name ?? BROKER_NAME, env);
  return {
    base: { name, directory: queues.directory, file, wrangler: config },
    queues,
    warnings: queues.warnings.map(formatDiagnostic),
  };
}

/** The broker of a project whose current folder holds none. */
export function defaultBroker(directory: string, env: string): Broker {
  const base = { name: brokerName(BROKER_NAME, env), directory, file: null, wrangler: null };
  return { base, queues: null, warnings: [] };
}

/**
 * A broker that runs alone, with the `[sluice]` table of a configuration that names no code and so is no Worker's. That
 * of a Worker is none of its business; but who runs it there may have meant that Worker.
 *
 * @param file a configuration of the current folder.
 */
export async function brokerAlone(directory: string, env: string, file: string): Promise<Broker> {
  const broker = defaultBroker(directory, env);
  const read = readWorkerConfig(file, { env });
  const { config } = await readWranglerConfig(file, { env, quiet: true });
  if (config.main !== undefined || config.assets !== undefined || config.site !== undefined) {
    const text = 'The Worker of this folder is not run: "sluice serve ." would.';
    return { ...broker, warnings: [`${file}: warning: ${text}`] };
  }
  // It needs no name: nobody calls it.
  const warnings = read.warnings.filter(({ key }) => key !== "name");
  const queues = { ...read, producers: [], consumers: [], warnings };
  return { ...broker, queues, warnings: warnings.map(formatDiagnostic) };
}

/**
 * The name of a broker's Worker on an account.
 *
 * @param files all that may name it, for the place of an error.
 * @param option what the command line calls it; `null` where it does not.
 * @param named what `[sluice] broker` calls it; `null` where no file does.
 * @throws ConfigError where that is another name than its own configuration has.
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
  const own = base.wrangler?.topLevelName ?? base.name;
  if (own === named) return base.name;
  const place = files.find(({ broker }) => broker !== undefined);
  const text = `"sluice.broker" is "${named}", and the broker's own configuration calls it "${own}" (${base.file})`;
  throw new ConfigError([errorAt(place?.file ?? base.file, place?.lines?.broker, text)]);
}

/** The configuration file of a folder, if there is one. */
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

/** Whether a configuration is that of a broker: it holds the Durable Object class of the queues itself. */
export function isBroker(config: Unstable_Config): boolean {
  return config.durable_objects.bindings.some(
    (binding) => binding.class_name === BROKER_CLASS && binding.script_name === undefined,
  );
}
