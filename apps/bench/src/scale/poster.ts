import { mkdir } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type QueueTopology, RETENTION_SECONDS_DEFAULT } from "@sluice/protocol";
import { bundle, startWorkerd } from "@sluice/protocol/test/workerd-process";
import type { Posted } from "../../lab/src/posted.ts";
import { cpuMs } from "../process/processes.ts";

const SOURCES = fileURLToPath(new URL("../../lab/src/", import.meta.url));

/** Counts of the sends in one process of workerd. */
export interface Sends extends Posted {
  /** CPU time of that process, in ms; `null` without `/proc`. */
  readonly cpuMs: number | null;
}

/** Objects in a process of their own, with a Worker that sends to them. */
export interface Poster {
  /** Sends for `ms`: to each object `calls` calls at once, each with `messages` messages. */
  post(calls: number, messages: number, ms: number): Promise<Sends>;
  stop(): Promise<void>;
}

/** Starts a process with `objects` objects, each of a queue without a consumer, in the place of a shard. */
export async function startPoster(folder: string, objects: number): Promise<Poster> {
  const [broker, poster] = await Promise.all(
    ["broker", "poster"].map((name) =>
      bundle(`export * from "./${name}.ts"; export { default } from "./${name}.ts";`, SOURCES),
    ) as [Promise<string>, Promise<string>],
  );
  await mkdir(path.join(folder, "objects"), { recursive: true });
  const workerd = await startWorkerd(
    [
      {
        name: "poster",
        source: poster,
        bindings: `(name = "SLUICE_QUEUES", durableObjectNamespace = (className = "QueueBroker", serviceName = "broker"))`,
      },
      {
        name: "broker",
        source: broker,
        durableObjects: ["QueueBroker", "Directory"],
        bindings: `(name = "SLUICE_QUEUES", durableObjectNamespace = (className = "QueueBroker")),
          (name = "SLUICE_DIRECTORY", durableObjectNamespace = (className = "Directory")),
          (name = "TOPOLOGY", json = ${JSON.stringify(JSON.stringify(topologyOf(objects)))})`,
      },
    ],
    { objects: path.join(folder, "objects") },
  );
  return {
    async post(calls, messages, ms) {
      const before = await cpuMs([workerd.pid]);
      const response = await workerd.fetch(
        `/?queues=${objects}&calls=${calls}&messages=${messages}&ms=${ms}`,
      );
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      const posted = (await response.json()) as Posted;
      const after = await cpuMs([workerd.pid]);
      return { ...posted, cpuMs: before === null || after === null ? null : after - before };
    },
    stop: async () => workerd[Symbol.asyncDispose](),
  };
}

function topologyOf(objects: number): QueueTopology {
  const queue = {
    deliveryDelaySeconds: 0,
    messageRetentionSeconds: RETENTION_SECONDS_DEFAULT,
    producers: [],
    consumer: null,
  };
  return { queues: Object.fromEntries(Array.from({ length: objects }, (_, i) => [`shard-${i}`, queue])) };
}
