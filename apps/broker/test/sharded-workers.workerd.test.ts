import path from "node:path";
import { bundle, type WorkerdProcess } from "@sluice/protocol/test/workerd-process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { consumerText, queueText, startBrokerOfWorkers } from "./broker-of-workers.ts";

/* Workers on queues that several objects keep: each isolate of a producer has a shard of its own. */

/** Package whose imports a Worker's generated entry has. */
const PROJECT = path.join(import.meta.dirname, "../../../packages/project");
const sharded = (more: string) => queueText(`shards: 3, ${more}`);
const QUEUES = `
  kept: ${sharded("consumer: null")},
  jobs: ${sharded(`consumer: ${consumerText("maxBatchSize: 5, deadLetterQueue: null")}`)},
  "kept.fifo": ${sharded('consumer: null, fifo: { deduplicationScope: "messageGroup" }')},
`;
/** Each request installs producers anew, as each isolate does once, and sends twice. */
const PRODUCER = `
import { env } from "cloudflare:workers";
import { installProducers } from "@sluice/producer";
const specs = ["kept", "jobs", "kept.fifo"].map((queue) => ({ binding: queue, queue }));
export default {
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname.startsWith("/__sluice/")) return env.BROKER.fetch(request);
    installProducers(env, specs, {
      worker: "producer",
      namespaceBinding: "SLUICE_BROKERS",
      directoryBinding: "SLUICE_DIRECTORY",
      exposeErrorCodes: true,
      defaultContentType: "json",
    });
    const queue = env[searchParams.get("queue")];
    const numbers = (searchParams.get("numbers") ?? "").split(",");
    for (const number of numbers) await queue.send({ number });
    return Response.json(await queue.metrics());
  },
};
`;
const HANDLE =
  'for (const { body } of batch.messages) console.log("GOT " + batch.queue + " " + body.number + ".");';
const object = (name: string, className: string) =>
  `(name = "${name}", durableObjectNamespace = (className = "${className}", serviceName = "broker"))`;

let workerd: WorkerdProcess;

beforeAll(async () => {
  workerd = await startBrokerOfWorkers({
    queues: QUEUES,
    producer: {
      source: await bundle(PRODUCER, PROJECT),
      bindings: `${object("SLUICE_BROKERS", "QueueBroker")}, ${object("SLUICE_DIRECTORY", "Directory")}`,
    },
    handle: HANDLE,
  });
});
afterAll(() => workerd[Symbol.asyncDispose]());

async function ask(pathname: string) {
  return (await (await workerd.fetch(`/__sluice/api${pathname}`)).json()) as Record<string, unknown>;
}

async function send(queue: string, ...numbers: readonly number[]) {
  const response = await workerd.fetch(`/?queue=${queue}&numbers=${numbers.join(",")}`);
  return (await response.json()) as { backlogCount: number };
}

it("isolates send to different shards, and each counts the messages of all", async () => {
  const count = 30;
  for (let i = 0; i < count; i++)
    expect(await send("kept", 2 * i, 2 * i + 1)).toMatchObject({ backlogCount: 2 * i + 2 });
  const { messages } = (await ask("/queues/kept/messages?max=100")) as {
    messages: { ref: string; text: string }[];
  };
  expect(messages.map(({ text }) => (JSON.parse(text) as { number: string }).number)).toEqual(
    Array.from({ length: 2 * count }, (_, i) => `${i}`),
  );
  const shards = new Set(messages.map(({ ref }) => ref.slice(34)));
  expect([...shards].sort()).toEqual(["", "-1", "-2"]);
});

it("a consumer gets the messages of all shards, from the queue", async () => {
  for (let i = 0; i < 10; i++) await send("jobs", 2 * i, 2 * i + 1);
  for (let i = 0; i < 20; i++) await workerd.printed(`GOT jobs ${i}.`);
  await expect.poll(() => ask("/queues/jobs")).toMatchObject({ messages: { ready: 0, leased: 0 } });
});

it("a producer of a FIFO queue sends its messages, which have no group, to one shard in order", async () => {
  for (let i = 0; i < 4; i++) await send("kept.fifo", 2 * i, 2 * i + 1);
  const { messages } = (await ask("/queues/kept.fifo/messages?max=100")) as {
    messages: { ref: string; text: string }[];
  };
  expect(messages.map(({ text }) => (JSON.parse(text) as { number: string }).number)).toEqual(
    Array.from({ length: 8 }, (_, i) => `${i}`),
  );
  expect(new Set(messages.map(({ ref }) => ref.slice(34))).size).toBe(1);
});
