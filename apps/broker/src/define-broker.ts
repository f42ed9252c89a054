import {
  type BrokerEnv,
  type BrokerOptions,
  createDirectory,
  createQueueBroker,
  describeUnreadable,
  type QueueBrokerObject,
} from "@sluice/broker";
import { createGateway, type QueueDirectory } from "@sluice/gateway";
import { accessOf } from "./access.ts";
import { accountOf, topicsOf } from "./account.ts";
import { awsOf } from "./aws.ts";
import { QueueBinding } from "./queue-binding.ts";

export type { BrokerOptions } from "@sluice/broker";

/**
 * The broker Worker for a topology: the Durable Object classes, the entrypoint for workerd's own queue bindings, and the
 * HTTP handler that serves `/__sluice/*`.
 *
 * The Worker's entry exports all of them. Its configuration binds `QueueBroker` as `SLUICE_QUEUES`, `Directory` as
 * `SLUICE_DIRECTORY` and each consumer's `SluiceQueueConsumer` entrypoint under the name that `options.consumers` gives.
 */
export function defineBroker(options: BrokerOptions) {
  let gateway: ReturnType<typeof createGateway> | undefined;
  const handler: ExportedHandler<BrokerEnv> = {
    fetch: (request, env, ctx) => {
      gateway ??= createGateway(directoryOf(env), accessOf(env), awsOf(env));
      return gateway.fetch(request, env, ctx);
    },
  };
  return {
    QueueBroker: createQueueBroker(options),
    Directory: createDirectory(options),
    QueueBinding,
    handler,
  };
}

function directoryOf(env: BrokerEnv): QueueDirectory {
  const objectOf = (queue: string): QueueBrokerObject =>
    env.SLUICE_QUEUES.get(env.SLUICE_QUEUES.idFromName(queue)) as unknown as QueueBrokerObject;
  /** Queues that could not be asked, each of which is said once. */
  const unreadable = new Set<string>();
  const account = accountOf(env);
  const topics = topicsOf(env);
  return {
    account,
    topics,
    queue: objectOf,
    topic: objectOf,
    describe: async (queue) => {
      try {
        const description = await objectOf(queue).describe(queue);
        unreadable.delete(queue);
        return description;
      } catch (error) {
        // A file that the platform cannot open fails before any code of the queue's object runs.
        const text = `its object cannot be started: ${error}`;
        if (!unreadable.has(queue)) console.error(`Queue "${queue}": ${text}`);
        unreadable.add(queue);
        return describeUnreadable(queue, text, Date.now());
      }
    },
    advanceClock:
      env.SLUICE_ENV === "development"
        ? async (ms) => {
            const listed = (await account.list()).map(({ name }) => name);
            const names = [...listed, ...(await topics.hiddenObjects())];
            await Promise.all(names.map((name) => objectOf(name).advanceClock(name, ms)));
          }
        : null,
  };
}
