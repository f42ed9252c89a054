import type { KeepAlive } from "@sluice/coalesce";
import {
  DIRECTORY_NAME,
  type DirectoryRpc,
  type QueueNamespace,
  QueueObjects,
  type SpanTracing,
} from "@sluice/protocol";
import { PRODUCER_RULES, ShardedQueues } from "@sluice/shards";
import { type ProducerBroker, QueueProducer } from "./queue-producer.ts";

/** One `[[queues.producers]]` of the user's configuration. */
export interface ProducerSpec {
  /** Name of the binding in `env`. */
  readonly binding: string;
  readonly queue: string;
  /** The binding's `delivery_delay`, in seconds, 0 to 86,400. Default: the queue's. */
  readonly deliveryDelaySeconds?: number | undefined;
}

export interface InstallOptions {
  /** Name of the Worker, for the history of its queues. Default: the history names no sender. */
  readonly worker?: string | undefined;
  /** Name of the binding to the Durable Object namespace of the brokers. */
  readonly namespaceBinding: string;
  /**
   * Name of the binding to the Durable Object namespace of the directory. It is asked for the jurisdiction that a
   * queue's objects are made in, and for a queue's shards when the first one has no time. Default: none, which an
   * absent binding is too; objects may be anywhere.
   */
  readonly directoryBinding?: string | undefined;
  /** Whether the compatibility date or flags turn `queue_expose_error_codes` on: from 2026-03-12. */
  readonly exposeErrorCodes: boolean;
  /** `json` where the compatibility date or flags turn `queues_json_messages` on, from 2024-03-18; else `v8`. */
  readonly defaultContentType: "json" | "v8";
  /**
   * `waitUntil` of `cloudflare:workers`. Give it only where the flag `handle_cross_request_promise_resolution` is on,
   * from 2024-10-14, and the Worker has no Durable Objects of its own; requests then share calls to the broker.
   * Default: each request makes its own.
   */
  readonly keepAlive?: KeepAlive | undefined;
  /** `tracing` of `cloudflare:workers`: a send is a span `queue_send` of a traced Worker. Default: it is none. */
  readonly tracing?: SpanTracing | undefined;
}

/** Part of the directory's Durable Object namespace that is used here. */
interface DirectoryNamespace {
  getByName(name: string): Pick<DirectoryRpc, "findByName">;
}

/**
 * Puts a `QueueProducer` under each binding of `env`. Call it when the module loads: handlers, Durable Objects and
 * modules that import `env` find the producers there. The stub of a queue's Durable Object is looked up for every call:
 * without the binding to the brokers the Worker starts, and its sends reject.
 *
 * @param env the `env` that `cloudflare:workers` exports. Its properties are replaced.
 * @param specs one for each binding.
 * @throws Error if a property of `env` cannot be replaced.
 * @example
 * ```ts
 * import { env, waitUntil } from "cloudflare:workers";
 *
 * installProducers(env, [{ binding: "ORDERS", queue: "orders" }], {
 *   namespaceBinding: "SLUICE_BROKERS",
 *   exposeErrorCodes: true,
 *   defaultContentType: "json",
 *   keepAlive: waitUntil,
 * });
 * ```
 */
export function installProducers(
  env: object,
  specs: readonly ProducerSpec[],
  { namespaceBinding, directoryBinding = "", ...behaviour }: InstallOptions,
): void {
  const queueRecordOf = (queue: string) => {
    const directories = Reflect.get(env, directoryBinding) as DirectoryNamespace | undefined;
    return directories?.getByName(DIRECTORY_NAME).findByName(queue);
  };
  const objects = new QueueObjects<ProducerBroker>({
    namespace: () => {
      const namespace = Reflect.get(env, namespaceBinding) as QueueNamespace<ProducerBroker> | undefined;
      if (namespace !== undefined) return namespace;
      throw new Error(`there is no binding "${namespaceBinding}" to the brokers`);
    },
    placeOf: async (queue) => (await queueRecordOf(queue))?.place ?? null,
    mapOf: async (queue) => (await queueRecordOf(queue))?.shards ?? null,
  });
  const queues = new ShardedQueues(objects, PRODUCER_RULES);
  for (const { binding, queue, deliveryDelaySeconds } of specs) {
    const sharded = queues.of(queue);
    const producer = new QueueProducer({ queue, broker: () => sharded, deliveryDelaySeconds, ...behaviour });
    if (!Reflect.set(env, binding, producer)) throw new Error(`env.${binding} cannot be replaced`);
  }
}
