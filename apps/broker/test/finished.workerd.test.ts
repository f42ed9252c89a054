import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { definition, endpoint, pullConsumer } from "@sluice/broker/testing/messages";
import { expect, it, onTestFinished } from "vitest";
import { awsOptions, startBroker, startSharedBroker } from "./any-broker.ts";
import { startSnsEndpoint } from "./sns-endpoint.ts";

/* Messages that are finished, by the clients of a real broker: their bodies are read and sent again. */

type Answer = Record<string, unknown> & { messages: Record<string, unknown>[]; id: string };

function clientOf(origin: string) {
  return async (call: string, method = "GET", body?: object): Promise<Answer> => {
    const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await fetch(`${origin}/__sluice/api/queues/${call}`, init);
    return (await response.json()) as Answer;
  };
}

/** Finished messages that are on disk, in all queues of a broker. */
async function writtenIn(folder: string): Promise<number> {
  let messages = 0;
  for (const file of await readdir(folder, { recursive: true })) {
    if (!file.endsWith(".sqlite")) continue;
    const database = new DatabaseSync(path.join(folder, file), { readOnly: true });
    const has = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'journal'").get();
    const rows = has && database.prepare("SELECT body FROM journal WHERE slot >= 20000").all();
    for (const { body } of rows ?? []) messages += Buffer.from(body as Uint8Array).readUInt32LE(20);
    database.close();
  }
  return messages;
}

const FINISHED = "messages?filter=state:finished";

it("what an endpoint has handled is read, sent again, and there after a restart until a purge", async () => {
  const shop = await startSnsEndpoint();
  const persistDir = await mkdtemp(path.join(tmpdir(), "sluice-finished-"));
  onTestFinished(async () => {
    await shop.close();
    await rm(persistDir, { recursive: true, force: true });
  });
  const consumer = endpoint({ url: shop.url("/orders"), maxRetries: 0 });
  const queues = { orders: definition({ consumer }) };
  const options = { queues, persistDir };
  const first = await startSharedBroker({ SLUICE_ENV: "development" }, options);
  const ask = clientOf(first.origin);
  const { id } = await ask("orders/messages", "POST", { body: { item: "lamp" } });
  const finishedOf = async (client: typeof ask) => (await client(`orders/${FINISHED}`)).messages;
  await expect.poll(() => finishedOf(ask)).toHaveLength(1);
  const expected = { id, state: "finished", attempts: 1, text: '{"item":"lamp"}', end: { kind: "acked" } };
  const found = await ask(`orders/messages/${id}`);
  expect(found).toMatchObject(expected);
  expect(await ask(`orders/messages/${found.ref}`)).toEqual(found);
  expect(await ask(`orders/messages/${id}/retry`, "POST")).toMatchObject({
    error: { code: "message_finished" },
  });
  expect(await ask(`orders/messages/${id}`, "DELETE")).toMatchObject({ error: { code: "message_finished" } });
  expect(await ask("orders/messages")).toMatchObject({ messages: [], of: 0, finished: 1 });
  const copy = await ask(`orders/messages/${id}/resend`, "POST", {});
  await expect.poll(async () => (await finishedOf(ask)).map((each) => each.id)).toEqual([copy.id, id]);
  // They are written a second later, with the events.
  await expect.poll(() => writtenIn(persistDir)).toBe(2);
  await first.dispose();

  const again = clientOf((await startBroker({ SLUICE_ENV: "development" }, options)).origin);
  expect((await finishedOf(again)).map((each) => each.id)).toEqual([copy.id, id]);
  expect(await again(`orders/messages/${id}`)).toMatchObject(expected);
  await again("orders/purge", "POST");
  expect(await finishedOf(again)).toEqual([]);
  expect(await again(`orders/messages/${id}`)).toMatchObject({ error: { code: "message_not_found" } });
});

it("what a client of SQS has deleted is read and sent again, on a deployed broker only if it is set to", async () => {
  const queue = definition({ consumer: null });
  const queues = {
    orders: { ...queue, finishedMessages: 1 },
    forgets: queue,
    pulled: { ...queue, consumer: pullConsumer() },
  };
  const { origin } = await startBroker({ SLUICE_ENV: "local" }, { queues });
  const ask = clientOf(origin);
  const sqs = new SQSClient(awsOptions(`${origin}/__sluice/aws`));
  onTestFinished(() => sqs.destroy());
  for (const name of ["orders", "forgets"]) {
    const QueueUrl = `${origin}/__sluice/aws/000000000000/${name}`;
    for (const MessageBody of ["first", "second"]) {
      await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
      const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl }));
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: Messages[0]?.ReceiptHandle }));
    }
  }
  const [second] = (await ask(`orders/${FINISHED}`)).messages;
  expect(second).toMatchObject({ text: "second", end: { kind: "acked", by: "SQS", error: null } });
  expect((await ask(`orders/${FINISHED}`)).messages).toHaveLength(1);
  expect((await ask(`forgets/${FINISHED}`)).messages).toEqual([]);
  await ask(`orders/messages/${second?.id}/resend`, "POST", { to: "forgets" });
  expect((await ask("forgets/messages")).messages).toMatchObject([{ state: "ready", text: "second" }]);
});
