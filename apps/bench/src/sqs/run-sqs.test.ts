import { expect, it, vi } from "vitest";
import { prepareSqs, runSqs } from "./run-sqs.ts";
import { SQS_CASES } from "./sqs-cases.ts";
import type { SqsClient } from "./sqs-client.ts";
import { caseQueues } from "./sqs-systems.ts";

/** SQS without a wire, and without visibility timeouts. */
function memoryClient() {
  const queues = new Map<string, string[]>();
  const calls = { send: 0, sendBatch: 0, deleted: 0, most: 0 };
  const queueOf = (queueUrl: string) => queues.get(queueUrl) ?? [];
  let underWay = 0;
  const take = async <Result>(work: () => Result): Promise<Result> => {
    underWay += 1;
    calls.most = Math.max(calls.most, underWay);
    await Promise.resolve();
    underWay -= 1;
    return work();
  };
  const client: SqsClient = {
    createQueue: async (name) => {
      queues.set(name, []);
      return name;
    },
    deleteQueue: async (queueUrl) => void queues.delete(queueUrl),
    send: (queueUrl, body) =>
      take(() => {
        calls.send += 1;
        queueOf(queueUrl).push(body);
      }),
    sendBatch: (queueUrl, bodies) =>
      take(() => {
        calls.sendBatch += 1;
        queueOf(queueUrl).push(...bodies);
      }),
    receive: (queueUrl) =>
      take(() =>
        queueOf(queueUrl)
          .splice(0, 10)
          .map((body) => ({ body, receipt: body })),
      ),
    deleteBatch: (_, receipts) =>
      take(() => {
        calls.deleted += receipts.length;
      }),
    close: async () => {},
  };
  return { client, calls, queues };
}

it.each(SQS_CASES)("$way handles or sends every message", async ({ way }) => {
  const { client, calls } = memoryClient();
  const run = await prepareSqs(client, await client.createQueue("a"), way, 320);
  const measured = await runSqs(run, way, 320);
  expect(measured.messages).toBe(320);
  expect(calls.send + 10 * calls.sendBatch).toBe(320);
  const handles = way === "sqs-drain16" || way === "sqs-through";
  expect(calls.deleted).toBe(handles ? 320 : 0);
  expect(Number.isNaN(measured.handledPerSecond)).toBe(!handles);
  expect(measured.call.p99Ms).toBeGreaterThanOrEqual(measured.call.p50Ms);
});

it.each([
  ["sqs-single", 1],
  ["sqs-senders50", 50],
  ["sqs-batches16", 16],
] as const)("%s has %i calls under way", async (way, atOnce) => {
  const { client, calls } = memoryClient();
  await runSqs(await prepareSqs(client, await client.createQueue("a"), way, 320), way, 320);
  expect(calls.most).toBe(atOnce);
});

it("shares a queue among the runs of a case, and deletes it when another case begins", async () => {
  const { client, queues } = memoryClient();
  const queueUrlFor = caseQueues(client);
  const url = await queueUrlFor("sqs-drain16");
  await client.send(url, "left");
  expect(await queueUrlFor("sqs-drain16")).toBe(url);
  expect(queues).toEqual(new Map([[url, ["left"]]]));
  const next = await queueUrlFor("sqs-single");
  expect(queues).toEqual(new Map([[next, []]]));
});

it("does not pass over messages that come twice", async () => {
  const { client } = memoryClient();
  const run = await prepareSqs(client, await client.createQueue("a"), "sqs-drain16", 320);
  const twice = {
    ...client,
    receive: async () => [{ body: '{"sentMs":"1"}', receipt: "r" }].flatMap((m) => Array(9).fill(m)),
  };
  await expect(runSqs({ ...run, client: twice }, "sqs-drain16", 320)).rejects.toThrow("messages came of 320");
});

it("a run whose messages do not all come ends with how many came", async () => {
  vi.useFakeTimers();
  try {
    const { client } = memoryClient();
    const queueUrl = await client.createQueue("a");
    const run = await prepareSqs(client, queueUrl, "sqs-drain16", 320);
    await client.receive(queueUrl, 0);
    // Each receive takes a second.
    const slow = (url: string, waitSeconds: number) => {
      vi.advanceTimersByTime(1_000);
      return client.receive(url, waitSeconds);
    };
    const measured = runSqs({ ...run, client: { ...client, receive: slow } }, "sqs-drain16", 320);
    await expect(measured).rejects.toThrow("only 310 of 320 messages came");
  } finally {
    vi.useRealTimers();
  }
});
