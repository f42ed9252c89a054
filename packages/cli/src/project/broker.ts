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

/** The broker of a project whose current folder holds none: nothing but a name. */
export async function defaultBroker(directory: string, env: string): Promise<Broker> {
  const wrangler = await wranglerDefaults();
  return { base: { name: brokerName(BROKER_NAME, env), directory, file: null, wrangler }, queues: null };
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
