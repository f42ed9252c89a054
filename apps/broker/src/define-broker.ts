import {
  type BrokerEnv,
  type BrokerOptions,
  createQueueBroker,
  type QueueBrokerObject,
} from "@sluice/broker";
import { createGateway, type QueueDirectory } from "@sluice/gateway";

export type { BrokerOptions } from "@sluice/broker";

/**
 * The broker Worker for a topology: the Durable Object class and the HTTP handler that serves `/__sluice/*`.
 *
 * The Worker's entry exports both, and its configuration binds the class as `SLUICE_QUEUES` and each consumer's
 * `SluiceQueueConsumer` entrypoint under the name that `options.consumers` gives.
 */
export function defineBroker(options: BrokerOptions) {
  let gateway: ReturnType<typeof createGateway> | undefined;
  const handler: ExportedHandler<BrokerEnv> = {
    fetch: (request, env) => {
      gateway ??= createGateway(directoryOf(options, env));
      return gateway.fetch(request);
    },
  };
  return { QueueBroker: createQueueBroker(options), handler };
}

function directoryOf(options: BrokerOptions, env: BrokerEnv): QueueDirectory {
  const { queues } = options.topology;
  const objectOf = (queue: string): QueueBrokerObject =>
    env.SLUICE_QUEUES.get(env.SLUICE_QUEUES.idFromName(queue)) as unknown as QueueBrokerObject;
  return {
    queues,
    describe: (queue) => objectOf(queue).describe(queue),
    advanceClock:
      env.SLUICE_ENV === "development"
        ? async (ms) => {
            await Promise.all(Object.keys(queues).map((queue) => objectOf(queue).advanceClock(queue, ms)));
          }
        : null,
  };
}
