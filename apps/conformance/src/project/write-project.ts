import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { bindingName, type QueueSpec, queueName, type Scenario } from "../scenario/scenario.ts";

const WORKERS = path.resolve(import.meta.dirname, "../../workers");
/** Compatibility date of all Workers but `old-sender`. */
const TODAY = "2026-11-01";

/** Wrangler configuration of a Worker, without its queues. */
interface Worker {
  readonly main: string;
  readonly compatibility_date: string;
  readonly compatibility_flags?: readonly string[];
  /** Workers that it has bindings to. */
  readonly services?: readonly string[];
}

const RECEIVERS = ["receiver", "receiver-no-wait", "receiver-class", "receiver-no-handler"];

/** The Workers of the project. The first one answers requests. */
const PROJECT: Readonly<Record<string, Worker>> = {
  sender: {
    main: "sender.ts",
    compatibility_date: TODAY,
    compatibility_flags: ["service_binding_extra_handlers"],
    services: ["old-sender", ...RECEIVERS],
  },
  "old-sender": { main: "sender.ts", compatibility_date: "2024-01-01" },
  receiver: { main: "receiver.ts", compatibility_date: TODAY },
  "receiver-no-wait": {
    main: "receiver.ts",
    compatibility_date: TODAY,
    compatibility_flags: ["queue_consumer_no_wait_for_wait_until"],
  },
  "receiver-class": { main: "receiver-class.ts", compatibility_date: TODAY },
  "receiver-no-handler": { main: "receiver-no-handler.ts", compatibility_date: TODAY },
};

interface UsedQueue extends QueueSpec {
  readonly queue: string;
  readonly sender: string;
}

/** Lists the queues of the scenarios, each once for each Worker that sends to it. */
function usedQueues(scenarios: readonly Scenario[]): UsedQueue[] {
  const used = new Map<string, UsedQueue>();
  for (const scenario of scenarios) {
    const { sender = "sender" } = scenario;
    for (const [key, spec] of Object.entries(scenario.queues)) {
      const queue = queueName(scenario, key, spec);
      used.set(`${sender} ${queue}`, { ...spec, queue, sender });
    }
  }
  return [...used.values()];
}

function configurationOf(name: string, worker: Worker, queues: readonly UsedQueue[]): object {
  const { main, services = [], ...rest } = worker;
  const consumed = new Map(
    queues
      .filter(({ receiver = "receiver", consumer }) => receiver === name && consumer !== null)
      .map(({ queue, consumer }) => [queue, { queue, ...consumer }]),
  );
  const producers = queues
    .filter(({ sender }) => sender === name)
    .map(({ queue, deliveryDelay }) => ({
      binding: bindingName(queue),
      queue,
      ...(deliveryDelay === undefined ? {} : { delivery_delay: deliveryDelay }),
    }));
  return {
    name,
    main: path.join(WORKERS, main),
    ...rest,
    services: services.map((service) => ({ binding: bindingName(service), service })),
    queues: { producers, consumers: [...consumed.values()] },
  };
}

/**
 * Writes the project of all scenarios: an ordinary Cloudflare Queues project, the same for every system, with a folder
 * and a `wrangler.json` for each Worker. Resolves to the folders' names.
 */
export async function writeProject(folder: string, scenarios: readonly Scenario[]): Promise<string[]> {
  const queues = usedQueues(scenarios);
  for (const [name, worker] of Object.entries(PROJECT)) {
    await mkdir(path.join(folder, name), { recursive: true });
    const configuration = configurationOf(name, worker, queues);
    await writeFile(path.join(folder, name, "wrangler.json"), `${JSON.stringify(configuration, null, 2)}\n`);
  }
  return Object.keys(PROJECT);
}
