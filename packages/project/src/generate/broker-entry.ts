import type { QueueTopology } from "@sluice/protocol";
import {
  BINDING_ENTRYPOINT,
  BROKER_CLASS,
  DIRECTORY_CLASS,
  GENERATED_HEADER,
  PAGE_FILE,
  READY_FILE,
} from "../names.ts";
import type { ConsumerBinding } from "./broker-config.ts";

/** The topology beside the broker's entry. */
export const TOPOLOGY_FILE = "topology.json";

/** The broker as it runs. */
export interface ReadyBroker {
  /** Its bundle (`src/runtime/broker-ready.ts`). */
  readonly code: string;
  /** Absolute path of the bundle's source map; `null` for none. */
  readonly map: string | null;
  /** Gives what marks its lines in the terminal the colour that Wrangler gives such marks. */
  paint(text: string): string;
}

/** Source of the module of a broker that is ready to run, and of the entry beside it. */
export function readyBrokerSources(
  { code, map, paint }: ReadyBroker,
  name: string,
  topology: QueueTopology,
  consumers: readonly ConsumerBinding[],
): { readonly module: string; readonly entry: string } {
  const options = { mark: paint(`[${name}]`), topology, consumers: byWorker(consumers) };
  return {
    module: map === null ? code : `${code}\n//# sourceMappingURL=${map}\n`,
    entry: `${GENERATED_HEADER}
import { readyBroker } from "./${READY_FILE}";

const broker = readyBroker(${JSON.stringify(options)});
${EXPORTS}`,
  };
}

/** Export statements at the end of a broker's entry. */
const EXPORTS = `export const ${BROKER_CLASS} = broker.${BROKER_CLASS};
export const ${DIRECTORY_CLASS} = broker.${DIRECTORY_CLASS};
export const ${BINDING_ENTRYPOINT} = broker.${BINDING_ENTRYPOINT};
export default broker.handler;
`;

function byWorker(consumers: readonly ConsumerBinding[]): Record<string, string> {
  return Object.fromEntries(consumers.map(({ worker, binding }) => [worker, binding]));
}

/**
 * Source of a broker's entry that is to be bundled: its code, told which queues there are and by which binding each
 * consumer is reached.
 *
 * @param runtime module specifier of our runtime for the broker.
 */
export function brokerEntrySource(consumers: readonly ConsumerBinding[], runtime: string): string {
  return `${GENERATED_HEADER}
import { defineBroker } from ${JSON.stringify(runtime)};
import page from "./${PAGE_FILE}";
import topology from "./${TOPOLOGY_FILE}";

const broker = defineBroker({ topology, consumers: ${JSON.stringify(byWorker(consumers))}, page });
${EXPORTS}`;
}
