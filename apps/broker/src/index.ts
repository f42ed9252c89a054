import { defineBroker } from "@sluice/broker-worker";

/**
 * Broker without Workers, which `wrangler dev` in the root folder starts. Its configuration has no queue.
 * `sluice build` generates an entry like this one with the topology of a project.
 */
const { QueueBroker, Directory, QueueBinding, handler } = defineBroker({
  topology: { queues: {} },
  consumers: {},
});

export { Directory, QueueBinding, QueueBroker };
export default handler;
