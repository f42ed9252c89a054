import { defineBroker } from "@sluice/broker-worker";

/**
 * The broker on its own: what `wrangler dev` at the root starts. It knows no queue by configuration; `sluice build`
 * generates an entry like this one with the topology of a project.
 */
const { QueueBroker, Directory, QueueBinding, handler } = defineBroker({
  topology: { queues: {} },
  consumers: {},
});

export { Directory, QueueBinding, QueueBroker };
export default handler;
