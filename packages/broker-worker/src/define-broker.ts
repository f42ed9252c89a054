import { env } from "cloudflare:workers";
import { type BrokerEnv, type BrokerOptions, createDirectory, createQueueBroker } from "@sluice/broker";
import { workersPort } from "@sluice/broker/workers-port";
import type { Gateway } from "@sluice/gateway";
import { boundedFetch } from "./bounded-fetch.ts";
import { gatewayFor } from "./gateway-for.ts";
import { QueueBinding } from "./queue-binding.ts";
import { ReportedClock } from "./reported-clock.ts";
import { ReportedDisk } from "./reported-disk.ts";

export type { BrokerOptions } from "@sluice/broker";

/** Options of the broker Worker. */
export interface BrokerWorkerOptions extends BrokerOptions {
  /** Archive of the page at `/__sluice/`, a data module in a Worker. Default: none. */
  readonly page?: ArrayBuffer | Uint8Array;
}

/**
 * Makes the broker Worker for a topology: the Durable Object classes, the entrypoint for workerd's own queue bindings,
 * and the HTTP handler of `/__sluice/*`.
 *
 * The Worker's entry exports all of them. Its configuration binds `QueueBroker` as `SLUICE_QUEUES`, `Directory` as
 * `SLUICE_DIRECTORY`, and each consumer's `SluiceQueueConsumer` entrypoint under its name in `options.consumers`.
 */
export function defineBroker({ page, ...options }: BrokerWorkerOptions) {
  const disk = new ReportedDisk(() => Date.now());
  const clock = new ReportedClock(() => Date.now(), Number((env as BrokerEnv).SLUICE_CLOCK_BEHIND_MS ?? 0));
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
