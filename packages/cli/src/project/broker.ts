import { findConfigFile, readWorkerConfig, type WorkerQueueConfig } from "@sluice/config";
import type { BrokerBase } from "../generate/broker-config.ts";
import { isBroker } from "../generate/broker-config.ts";
import { BROKER_NAME } from "../generate/names.ts";
import { readWranglerConfig, wranglerDefaults } from "./wrangler-config.ts";

/** The broker of a project, and what its own configuration says of queues if it has one. */
export interface Broker {
  readonly base: BrokerBase;
  readonly queues: WorkerQueueConfig | null;
}

/**
 * The broker that a configuration file describes, or `null` if it is an ordinary Worker's.
 *
 * A broker need not spell out every environment of the Workers it serves: without a section of its own it is its top
 * level under the environment's name. Each environment gets a broker, as it gets Workers, so that staging and production
 * never share a queue.
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
  };
}

/**
 * The broker of a project whose current folder holds none: a name, and what a file without code says of queues and topics if
 * there is one.
 */
export async function defaultBroker(
  directory: string,
  env: string,
  settings: WorkerQueueConfig | null,
): Promise<Broker> {
  const wrangler = await wranglerDefaults();
  const base = { name: brokerName(BROKER_NAME, env), directory, file: null, wrangler };
  return { base, queues: settings };
}

/**
 * The `[sluice]` table of a configuration that names no code and so is no Worker's: the settings of a broker that runs alone.
 * `null` for the configuration of a Worker, which is none of that broker's business.
 */
export async function readSettings(file: string, env: string): Promise<WorkerQueueConfig | null> {
  const read = readWorkerConfig(file, { env });
  const { config } = await readWranglerConfig(file, { env, quiet: true });
  if (config.main !== undefined || config.assets !== undefined || config.site !== undefined) return null;
  // It needs no name: nobody calls it.
  const warnings = read.warnings.filter(({ key }) => key !== "name");
  return { ...read, producers: [], consumers: [], warnings };
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
