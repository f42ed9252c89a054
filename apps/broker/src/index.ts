import { defineBroker } from "@sluice/broker-worker";

/**
 * Entry of the broker on its own, which `wrangler dev` at the root starts. It has no queue by configuration; `sluice
 * build` generates an entry like this one with the topology of a project.
 */
const { QueueBroker, Directory, QueueBinding, handler } = defineBroker({
  topology: { queues: {} },
  consumers: {},
});

export { Directory, QueueBinding, QueueBroker };
export default handler;
