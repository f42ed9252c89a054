import { type BrokerEnv, type BrokerOptions, createDirectory, createQueueBroker } from "@sluice/broker";
import { workersPort } from "@sluice/broker/workers-port";
import type { Gateway } from "@sluice/gateway";
import { gatewayFor } from "./gateway-for.ts";
import { QueueBinding } from "./queue-binding.ts";
import { createRequestFrames } from "./request-frames.ts";

export type { BrokerOptions } from "@sluice/broker";

/**
 * The broker Worker for a topology: the Durable Object classes, the entrypoints for workerd's own queue bindings and for
 * the front of `sluice serve`, and the HTTP handler that serves `/__sluice/*`.
 *
 * The Worker's entry exports all of them. Its configuration binds `QueueBroker` as `SLUICE_QUEUES`, `Directory` as
 * `SLUICE_DIRECTORY` and each consumer's `SluiceQueueConsumer` entrypoint under the name that `options.consumers` gives.
 */
export function defineBroker(options: BrokerOptions) {
  let gateway: Gateway | undefined;
  const gatewayOf = (env: BrokerEnv): Gateway => {
    gateway ??= gatewayFor(env);
    return gateway;
  };
  const handler: ExportedHandler<BrokerEnv> = {
    fetch: (request, env, ctx) => gatewayOf(env).fetch(request, env, ctx),
  };
  return {
    QueueBroker: createQueueBroker(options, workersPort),
    Directory: createDirectory(options),
    QueueBinding,
    RequestFrames: createRequestFrames(gatewayOf),
    handler,
  };
}
