import type { QueueTopology } from "@sluice/protocol";
import {
  BINDING_ENTRYPOINT,
  BROKER_CLASS,
  DIRECTORY_CLASS,
  GENERATED_HEADER,
  PAGE_FILE,
  READY_FILE,
  READY_VARIABLE,
} from "../names.ts";
import type { ConsumerBinding } from "./broker-config.ts";

/** File with the topology beside the broker's entry. */
export const TOPOLOGY_FILE = "topology.json";

/** A broker that is bundled already. */
export interface ReadyBroker {
  /** Code of the bundle. */
  readonly code: string;
  /** Absolute path of the bundle's source map; `null` for none. */
  readonly map: string | null;
  /** Colours the mark of the broker's lines in the terminal, as Wrangler colours such marks. */
  paint(text: string): string;
}

/** Sources of a broker that is bundled already, and the variable that makes it the broker of a project. */
interface ReadyBrokerParts {
  readonly module: string;
  readonly entry: string;
  readonly vars: Readonly<Record<string, string>>;
}

/**
 * Makes the sources of a bundled broker's module and of the entry beside it, and its variable. The sources do not
 * depend on the topology, since Wrangler restarts workerd for each changed file. The variable does.
 */
export function readyBrokerParts(
  { code, map, paint }: ReadyBroker,
  name: string,
  topology: QueueTopology,
  consumers: readonly ConsumerBinding[],
): ReadyBrokerParts {
  const options = { mark: paint(`[${name}]`), topology, consumers: byWorker(consumers) };
  return {
    module: map === null ? code : `${code}\n//# sourceMappingURL=${map}\n`,
    entry: `${GENERATED_HEADER}
import { env } from "cloudflare:workers";
import { readyBroker } from "./${READY_FILE}";

const broker = readyBroker(JSON.parse(env.${READY_VARIABLE}));
${EXPORTS}`,
    vars: { [READY_VARIABLE]: JSON.stringify(options) },
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
 * Makes the source of a broker's entry that is bundled later: the broker with its queues and the binding of each
 * consumer.
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
