import { env } from "cloudflare:workers";
import { type BrokerEnv, type BrokerOptions, createDirectory, createQueueBroker } from "@sluice/broker";
import { workersPort } from "@sluice/broker/workers-port";
import type { Gateway } from "@sluice/gateway";
import { boundedFetch } from "./bounded-fetch.ts";
import { gatewayFor } from "./gateway-for.ts";
import { QueueBinding } from "./queue-binding.ts";
import { ToldClock } from "./told-clock.ts";
import { ToldDisk } from "./told-disk.ts";

export type { BrokerOptions } from "@sluice/broker";

/** Options that the broker Worker is made with. */
export interface BrokerWorkerOptions extends BrokerOptions {
  /** The page at `/__sluice/` as an archive, a module of data in a Worker. Default: none. */
  readonly page?: ArrayBuffer | Uint8Array;
}

/**
 * The broker Worker for a topology: the Durable Object classes, the entrypoint for workerd's own queue bindings, and
 * the HTTP handler that serves `/__sluice/*`.
 *
 * The Worker's entry exports all of them. Its configuration binds `QueueBroker` as `SLUICE_QUEUES`, `Directory` as
 * `SLUICE_DIRECTORY` and each consumer's `SluiceQueueConsumer` entrypoint under the name that `options.consumers`
 * gives.
 */
export function defineBroker({ page, ...options }: BrokerWorkerOptions) {
  const disk = new ToldDisk(() => Date.now());
  const clock = new ToldClock(() => Date.now(), Number((env as BrokerEnv).SLUICE_CLOCK_BEHIND_MS ?? 0));
  let bounded: Gateway["fetch"] | undefined;
  const handler: ExportedHandler<BrokerEnv> = {
    fetch: (request, env, ctx) => {
      bounded ??= boundedFetch(gatewayFor(env, options.topology, { disk, clock }, page ?? null));
      return bounded(request, env, ctx);
    },
  };
  return {
    QueueBroker: createQueueBroker({ ...options, disk, clock }, workersPort),
    Directory: createDirectory({ ...options, clock }),
    QueueBinding,
    handler,
  };
}
