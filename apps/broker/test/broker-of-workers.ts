import path from "node:path";
import { bundle, startWorkerd, type WorkerdProcess } from "@sluice/protocol/test/workerd-process";

/** Package from which the imports of the generated sources are resolved. */
const ROOT = path.dirname(import.meta.dirname);

/** Parts of a broker whose producers and consumers are Workers of one workerd. */
interface BrokerOfWorkers {
  /** Members of an object literal: the queues, by name. */
  readonly queues: string;
  /**
   * Script of the Worker that gets all requests, and its bindings besides `BROKER`. It passes requests below
   * `/__sluice` on to the broker.
   */
  readonly producer: { readonly source: string; readonly bindings: string };
  /** Body of the consumer's handler, with the argument `batch`. Queues name its Worker `consumer`. */
  readonly handle: string;
}

/** Writes the definition of a queue as a literal. @param more its other members. */
export function queueText(more: string): string {
  return `{ deliveryDelaySeconds: 0, messageRetentionSeconds: 345600, producers: [], ${more} }`;
}

/** Writes the consumer of a queue as a literal, which delivers at once, with one retry. @param more other settings. */
export function consumerText(more: string): string {
  return `{ type: "worker", worker: "consumer", settings: {
    maxBatchTimeoutSeconds: 0, maxRetries: 1, maxConcurrency: null, retryDelaySeconds: 0, ${more}
  } }`;
}

export async function startBrokerOfWorkers(parts: BrokerOfWorkers): Promise<WorkerdProcess> {
  const { queues, producer, handle } = parts;
  const broker = `
import { defineBroker } from "@sluice/broker-worker";
const queues = { ${queues} };
const { QueueBroker, Directory, QueueBinding, handler } =
  defineBroker({ topology: { queues }, consumers: { consumer: "CONSUMER" } });
export { Directory, QueueBinding, QueueBroker };
export default handler;
`;
  const consumer = `
import { createQueueConsumer } from "@sluice/consumer";
export const SluiceQueueConsumer = createQueueConsumer({
  queue(batch) { ${handle} },
}, { waitForWaitUntil: true });
export default {};
`;
  return startWorkerd([
    {
      name: "producer",
      source: producer.source,
      bindings: `${producer.bindings}, (name = "BROKER", service = "broker")`,
    },
    {
      name: "broker",
      source: await bundle(broker, ROOT),
      compatibilityFlags: ["enable_request_signal"],
      durableObjects: ["QueueBroker", "Directory"],
      bindings: `(name = "SLUICE_QUEUES", durableObjectNamespace = "QueueBroker"),
        (name = "SLUICE_DIRECTORY", durableObjectNamespace = "Directory"),
        (name = "SLUICE_ENV", text = "development"),
        (name = "CONSUMER", service = (name = "consumer", entrypoint = "SluiceQueueConsumer"))`,
    },
    { name: "consumer", source: await bundle(consumer, ROOT) },
  ]);
}
