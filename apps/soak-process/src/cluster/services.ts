import { fileURLToPath } from "node:url";
import { bundle, type WorkerdService } from "@sluice/protocol/test/workerd-process";
import { TOPOLOGY } from "./topology.ts";

const WORKERS = fileURLToPath(new URL("../../workers/", import.meta.url));

/** Name of the broker's Worker. */
export const BROKER = "sluice";
/** The broker's API token, which a deployment has as a secret. */
export const TOKEN = "soak";

/** Bindings that the broker's Worker has in every scenario. */
export const BROKER_BINDINGS = [
  `(name = "SLUICE_QUEUES", durableObjectNamespace = (className = "QueueBroker"))`,
  `(name = "SLUICE_DIRECTORY", durableObjectNamespace = (className = "Directory"))`,
  `(name = "SLUICE_API_TOKENS", text = "${TOKEN}")`,
];

/** Builds broker, producer and consumer from these sources. */
export async function clusterServices(): Promise<WorkerdService[]> {
  const [broker, producer, consumer] = await Promise.all(
    ["broker", "producer", "consumer"].map((worker) => bundled(worker)),
  );
  return [
    {
      name: BROKER,
      source: broker ?? "",
      durableObjects: ["QueueBroker", "Directory"],
      bindings: [
        ...BROKER_BINDINGS,
        `(name = "SLUICE_ENV", text = "development")`,
        json("TOPOLOGY", TOPOLOGY),
        `(name = "CONSUMER", service = (name = "consumer", entrypoint = "SluiceQueueConsumer"))`,
      ].join(", "),
    },
    {
      name: "producer",
      source: producer ?? "",
      bindings: [
        json("QUEUE_NAMES", Object.keys(TOPOLOGY.queues)),
        `(name = "SLUICE_QUEUES", durableObjectNamespace = (className = "QueueBroker", serviceName = "${BROKER}"))`,
      ].join(", "),
    },
    { name: "consumer", source: consumer ?? "", bindings: `(name = "LEDGER", service = "ledger")` },
  ];
}

/** Bundles a Worker of this package into one module. @param apart modules that are left out of it. */
export function bundled(worker: string, apart: readonly string[] = []): Promise<string> {
  const source = `export * from "./${worker}.ts"; export { default } from "./${worker}.ts";`;
  return bundle(source, WORKERS, "kept", apart);
}

/** Makes a binding whose value is JSON. */
export function json(name: string, value: unknown): string {
  return `(name = "${name}", json = ${JSON.stringify(JSON.stringify(value))})`;
}
