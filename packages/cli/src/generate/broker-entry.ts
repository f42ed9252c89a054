import { PAGE_FILE } from "../page.ts";
import type { ConsumerBinding } from "./broker-config.ts";
import { BINDING_ENTRYPOINT, BROKER_CLASS, DIRECTORY_CLASS, GENERATED_HEADER } from "./names.ts";

/** The topology beside the broker's entry. */
export const TOPOLOGY_FILE = "topology.json";

/**
 * Source of the broker's entry: its code, told which queues there are and by which binding each consumer is reached.
 *
 * @param runtime module specifier of our runtime for the broker.
 */
export function brokerEntrySource(consumers: readonly ConsumerBinding[], runtime: string): string {
  const byWorker = Object.fromEntries(consumers.map(({ worker, binding }) => [worker, binding]));
  return `${GENERATED_HEADER}
import { defineBroker } from ${JSON.stringify(runtime)};
import page from "./${PAGE_FILE}";
import topology from "./${TOPOLOGY_FILE}";

const broker = defineBroker({ topology, consumers: ${JSON.stringify(byWorker)}, page });
export const ${BROKER_CLASS} = broker.${BROKER_CLASS};
export const ${DIRECTORY_CLASS} = broker.${DIRECTORY_CLASS};
export const ${BINDING_ENTRYPOINT} = broker.${BINDING_ENTRYPOINT};
export default broker.handler;
`;
}
