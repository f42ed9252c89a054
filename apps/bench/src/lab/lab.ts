import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type ConsumerSettings, type QueueTopology, RETENTION_SECONDS_DEFAULT } from "@sluice/protocol";
import { bundle, startWorkerd } from "@sluice/protocol/test/workerd-process";
import type { Answers, HandledCounts, LabCommand } from "../../lab/src/commands.ts";
import { residentBytesOfTree } from "../process/processes.ts";
import type { Measured } from "../workload/run.ts";
import type { Way } from "../workload/ways.ts";

const SOURCES = fileURLToPath(new URL("../../lab/src/", import.meta.url));

/** Longest time until sent messages are handled, in ms. */
const HANDLED_MS_MAX = 300_000;
const LOOK_AGAIN_MS = 20;

export interface LabOptions {
  readonly persistDir: string;
  /** Settings of the consumer of the queue "bench"; `null` for no consumer. */
  readonly consumer: Partial<ConsumerSettings> | null;
}

/** The broker and the bench Worker in one workerd, without Wrangler around them. */
export interface Lab {
  /** Time at which the process was started, in ms since 1970. */
  readonly startedMs: number;
  /** Sends a command to the driver, and resolves to its answer. */
  tell<Kind extends LabCommand["kind"]>(command: Extract<LabCommand, { kind: Kind }>): Promise<Answers[Kind]>;
  /** Makes one run of the comparison's workload. */
  run(way: Way, messages: number): Promise<Measured>;
  /** Waits until this number of messages was delivered, or acknowledged. Rejects after five minutes. */
  until(what: "delivered" | "acknowledged", messages: number): Promise<HandledCounts>;
  /** Memory of the workerd process in bytes; `null` where it cannot be read. */
  residentBytes(): Promise<number | null>;
  stop(): Promise<void>;
}

export async function startLab({ persistDir, consumer }: LabOptions): Promise<Lab> {
  const [broker, driver] = await Promise.all([bundled("broker"), bundled("driver")]);
  const startedMs = Date.now();
  const workerd = await startWorkerd(
    [
      {
        name: "driver",
        source: driver,
        bindings: `(name = "SELF", service = "driver"),
          (name = "SLUICE_QUEUES", durableObjectNamespace = (className = "QueueBroker", serviceName = "broker"))`,
      },
      {
        name: "broker",
        source: broker,
        durableObjects: ["QueueBroker", "Directory"],
        bindings: `(name = "SLUICE_QUEUES", durableObjectNamespace = (className = "QueueBroker")),
          (name = "SLUICE_DIRECTORY", durableObjectNamespace = (className = "Directory")),
          (name = "CONSUMER", service = (name = "driver", entrypoint = "SluiceQueueConsumer")),
          (name = "TOPOLOGY", json = ${JSON.stringify(JSON.stringify(topology(consumer)))})`,
      },
    ],
    { objects: persistDir },
  );
  const ask = async (path: string, init?: RequestInit) => {
    const response = await workerd.fetch(path, init);
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return response.json();
  };
  const tell: Lab["tell"] = async (command) =>
    (await ask("/", { method: "POST", body: JSON.stringify(command) })) as never;
  return {
    startedMs,
    tell,
    async until(what, messages) {
      const deadlineMs = Date.now() + HANDLED_MS_MAX;
      while (Date.now() < deadlineMs) {
        const handled = await tell({ kind: "handled" });
        if (handled[what] >= messages) return handled;
        await sleep(LOOK_AGAIN_MS);
      }
      throw new Error(`${messages} messages were not ${what} within ${HANDLED_MS_MAX / 1000} s`);
    },
    run: async (way, messages) => (await ask(`/?way=${way}&messages=${messages}`)) as Measured,
    residentBytes: () => residentBytesOfTree(workerd.pid),
    stop: async () => workerd[Symbol.asyncDispose](),
  };
}

function topology(consumer: LabOptions["consumer"]): QueueTopology {
  const settings: ConsumerSettings = {
    maxBatchSize: 100,
    maxBatchTimeoutSeconds: 1,
    maxRetries: 3,
    maxConcurrency: null,
    retryDelaySeconds: 0,
    deadLetterQueue: null,
    ...consumer,
  };
  const queue = (own: ConsumerSettings | null) => ({
    deliveryDelaySeconds: 0,
    messageRetentionSeconds: RETENTION_SECONDS_DEFAULT,
    producers: [],
    consumer: own === null ? null : { type: "worker" as const, worker: "driver", settings: own },
  });
  return {
    queues: {
      bench: queue(consumer === null ? null : settings),
      "bench-now": queue({ ...settings, maxBatchSize: 10, maxBatchTimeoutSeconds: 0 }),
    },
  };
}

function bundled(worker: "broker" | "driver"): Promise<string> {
  return bundle(`export * from "./${worker}.ts"; export { default } from "./${worker}.ts";`, SOURCES);
}
