import { resolve } from "node:path";
import { buildTopology, readWorkerTables, type WorkerQueueConfig } from "@sluice/config";
import { CliError } from "@sluice/project/errors";
import {
  BROKER_COMPATIBILITY_DATE,
  BROKER_COMPATIBILITY_FLAG,
  consumerBindings,
} from "@sluice/project/generate/broker-config";
import { readyBrokerParts } from "@sluice/project/generate/broker-entry";
import { devVars } from "@sluice/project/generate/dev-vars";
import { ENTRY_FILE } from "@sluice/project/generate/worker-config";
import {
  BROKER_CLASS,
  BROKER_NAME,
  BROKER_QUEUES_BINDING,
  CONSUMER_ENTRYPOINT,
  DIRECTORY_BINDING,
  DIRECTORY_CLASS,
  READY_FILE,
} from "@sluice/project/names";
import { endpointVariables } from "@sluice/protocol";
import { readyBroker, runtimeCode } from "../runtime-modules.ts";
import { LOCAL_SOCKET, NETWORKS } from "../workerd/worker-options.ts";
import type { MiniflareOptions, MiniflareWorker } from "./options.ts";
import { wrapped } from "./wrapped-worker.ts";

/** Miniflare's top-level options for a single Worker, which move to the first of `workers`. */
const OF_ONE_WORKER: readonly string[] = ["name", "modules", "modulesRoot", "script", "scriptPath"];
const NAME_DEFAULT = "worker";

/**
 * Returns Miniflare's options with a broker added for the queues of their Workers.
 *
 * ```ts
 * const miniflare = new Miniflare(await sluiceWorkers({
 *   modules: true,
 *   scriptPath: "./dist/index.js",
 *   queueProducers: { ORDERS: "orders" },
 *   queueConsumers: { orders: { maxRetries: 5 } },
 * }));
 * ```
 *
 * The Workers' queue bindings send to the broker, which calls their `queue()` handlers. Settings that are left out have
 * production's defaults. Miniflare's own queues are removed, so `getQueueProducer()` finds none. Where the options
 * persist Durable Objects, messages are persisted with them: use each folder in one Miniflare only, and not in
 * `sluice dev`.
 *
 * @param options options for Miniflare 4, and for Miniflare 5 by its `convertV4MiniflareOptions`. Workers that send or
 *   consume are ES modules: a list of them, or a `script` or `scriptPath` without imports, as bundlers make it.
 * @returns the options with their `workers`, and the broker as the last one under the name `sluice`. Its page is at
 *   `/__sluice/` of `unsafeGetDirectURL("sluice")`.
 * @throws Error for Workers and settings that cannot be used.
 */
export async function sluiceWorkers<Options extends MiniflareOptions>(options: Options): Promise<Options> {
  const given: readonly MiniflareWorker[] = options.workers ?? [options];
  const directory = resolve(options.rootPath ?? ".");
  const all = given.map((worker): [MiniflareWorker, WorkerQueueConfig] => [
    worker,
    queuesOf(worker, directory),
  ]);
  if (all.some(([{ name }]) => name === BROKER_NAME)) {
    throw new CliError(`"${BROKER_NAME}" is the name of the broker. Call this Worker something else.`);
  }
  const runtime = await runtimeCode();
  const shared = Object.fromEntries(Object.entries(options).filter(([key]) => !OF_ONE_WORKER.includes(key)));
  const workers = [
    ...all.map(([worker, queues]) => wrapped(worker, queues, runtime)),
    await brokerFor(all.map(([, queues]) => queues)),
  ];
  return { ...shared, workers } as unknown as Options;
}

/** Reads a Worker's options for queues by the rules of configuration files. */
function queuesOf(worker: MiniflareWorker, directory: string): WorkerQueueConfig {
  const { name = NAME_DEFAULT, queueProducers = [], queueConsumers = [] } = worker;
  const producers = isList(queueProducers)
    ? queueProducers.map((queue) => ({ binding: queue, queue }))
    : Object.entries(queueProducers).map(([binding, to]) =>
        typeof to === "string"
          ? { binding, queue: to }
          : defined({ binding, queue: to.queueName, delivery_delay: to.deliveryDelay }),
      );
  const consumers = isList(queueConsumers)
    ? queueConsumers.map((queue) => ({ queue }))
    : Object.entries(queueConsumers).map(([queue, settings]) =>
        defined({
          queue,
          max_batch_size: settings.maxBatchSize,
          max_batch_timeout: settings.maxBatchTimeout,
          max_retries: settings.maxRetries,
          dead_letter_queue: settings.deadLetterQueue,
          retry_delay: settings.retryDelay,
        }),
      );
  return readWorkerTables(`Worker "${name}"`, directory, { name, queues: { producers, consumers } });
}

/** Removes keys without a value, which would be errors in a configuration. */
function defined(table: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(table).filter(([, value]) => value !== undefined));
}

function isList<T>(value: T | readonly string[]): value is readonly string[] {
  return Array.isArray(value);
}

async function brokerFor(queues: readonly WorkerQueueConfig[]): Promise<MiniflareWorker> {
  const topology = buildTopology(queues);
  const consuming = queues.filter(({ consumers }) => consumers.length > 0);
  const consumers = consumerBindings(consuming.map(({ workerName }) => workerName));
  const ready = { ...(await readyBroker()), paint: (text: string) => text };
  const { module, entry, vars } = readyBrokerParts(ready, BROKER_NAME, topology, consumers);
  const services = consumers.map(({ worker, binding }) => [
    binding,
    { name: worker, entrypoint: CONSUMER_ENTRYPOINT },
  ]);
  const broker = {
    name: BROKER_NAME,
    modules: [
      { type: "ESModule", path: ENTRY_FILE, contents: entry },
      { type: "ESModule", path: READY_FILE, contents: module },
    ],
    compatibilityDate: BROKER_COMPATIBILITY_DATE,
    compatibilityFlags: [BROKER_COMPATIBILITY_FLAG],
    bindings: { ...devVars(undefined, process.env, endpointVariables(topology)), ...vars },
    durableObjects: {
      [BROKER_QUEUES_BINDING]: { className: BROKER_CLASS, useSQLite: true },
      [DIRECTORY_BINDING]: { className: DIRECTORY_CLASS, useSQLite: true },
    },
    serviceBindings: { ...NETWORKS, ...Object.fromEntries(services) },
    unsafeDirectSockets: [LOCAL_SOCKET],
  };
  return broker;
}
