import {
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { definition, pullConsumer } from "@sluice/broker/testing/messages";
import { beforeAll, expect, it } from "vitest";
import { awsOptions, startSharedBroker } from "./any-broker.ts";

/* Queues that several objects keep, as their clients see them: as one queue. */

const GROUPS = ["a", "b", "c", "d", "e", "f", "g", "h"];
const QUEUES = {
  "orders.fifo": definition({ shards: 3, fifo: { deduplicationScope: "messageGroup" } }),
  "letters.fifo": definition({ shards: 3, fifo: { deduplicationScope: "messageGroup" } }),
  imported: definition({ shards: 3 }),
  pulled: definition({ shards: 3, consumer: pullConsumer({ maxRetries: 3 }) }),
};

let origin: string;
let sqs: SQSClient;
const ids: Record<string, string> = {};

beforeAll(async () => {
  const broker = await startSharedBroker({ SLUICE_ENV: "development" }, { queues: QUEUES });
  origin = broker.origin;
  sqs = new SQSClient(awsOptions(`${origin}/__sluice/aws`));
  const { queues } = await ask("/queues");
  for (const { name, id } of queues as { name: string; id: string }[]) ids[name] = id;
  return async () => {
    sqs.destroy();
    await broker.dispose();
  };
});

async function ask(path: string, method = "GET", body?: object) {
  const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const response = await fetch(`${origin}/__sluice/api${path}`, init);
  return (await response.json()) as Record<string, unknown> & {
    messages: { id: string; text: string; group: string }[];
    cursor: string | null;
    events: { number: number; kind: string; queue: string; ids: string[]; at: string }[];
  };
}

async function rest(queue: string, call: string, body: object) {
  const at = `${origin}/__sluice/client/v4/accounts/any/queues/${ids[queue]}/messages${call}`;
  const response = await fetch(at, { method: "POST", body: JSON.stringify(body) });
  return ((await response.json()) as { result: Record<string, unknown> }).result;
}

const urlOf = (queue: string) => `${origin}/__sluice/aws/000000000000/${queue}`;

/** Sends so many messages of each group, ten at a time. */
async function send(queue: string, each: number) {
  const entries = Array.from({ length: each }, (_, i) =>
    GROUPS.map((MessageGroupId) => ({
      Id: `${MessageGroupId}${i}`,
      MessageGroupId,
      MessageDeduplicationId: `${MessageGroupId}${i}`,
      MessageBody: `${MessageGroupId}${i}`,
    })),
  ).flat();
  const results: (string | undefined)[] = [];
  for (let at = 0; at < entries.length; at += 10) {
    const sent = await sqs.send(
      new SendMessageBatchCommand({ QueueUrl: urlOf(queue), Entries: entries.slice(at, at + 10) }),
    );
    expect(sent.Failed).toBeUndefined();
    expect(sent.Successful?.map(({ Id }) => Id)).toEqual(entries.slice(at, at + 10).map(({ Id }) => Id));
    results.push(...(sent.Successful ?? []).map(({ MessageId }) => MessageId));
  }
  return results;
}

async function countOf(queue: string): Promise<number> {
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl: urlOf(queue),
      AttributeNames: ["ApproximateNumberOfMessages"],
    }),
  );
  return Number(Attributes?.ApproximateNumberOfMessages);
}

it("an SQS client gets each group in order, and what it repeats is stored once", async () => {
  const sent = await send("orders.fifo", 4);
  expect(await send("orders.fifo", 4)).toEqual(sent);
  expect(await countOf("orders.fifo")).toBe(4 * GROUPS.length);
  const got = new Map<string, string[]>(GROUPS.map((group) => [group, []]));
  const receipts = new Set<string>();
  for (;;) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: urlOf("orders.fifo"),
        MaxNumberOfMessages: 10,
        MessageSystemAttributeNames: ["All"],
        WaitTimeSeconds: 1,
      }),
    );
    if (Messages.length === 0) break;
    for (const { Body = "", Attributes } of Messages) got.get(Attributes?.MessageGroupId ?? "")?.push(Body);
    const Entries = Messages.map(({ ReceiptHandle = "" }, i) => ({ Id: `${i}`, ReceiptHandle }));
    for (const { ReceiptHandle } of Entries) receipts.add(ReceiptHandle.slice(43));
    const { Failed } = await sqs.send(
      new DeleteMessageBatchCommand({ QueueUrl: urlOf("orders.fifo"), Entries }),
    );
    expect(Failed).toBeUndefined();
  }
  for (const [group, bodies] of got) expect(bodies).toEqual([0, 1, 2, 3].map((i) => `${group}${i}`));
  // They came from all three shards.
  expect([...receipts].sort()).toEqual(["", "-1", "-2"]);
  expect(await countOf("orders.fifo")).toBe(0);
});

it("the page lists the messages of all shards once, page by page, and acts on each", async () => {
  await send("letters.fifo", 3);
  const of = 3 * GROUPS.length;
  const described = await ask("/queues/letters.fifo");
  expect(described).toMatchObject({ messages: { ready: of, leased: 0 }, damage: [] });
  const found: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const page = await ask(`/queues/letters.fifo/messages?max=5${cursor && `&cursor=${cursor}`}`);
    expect(page).toMatchObject({ of });
    found.push(...page.messages.map(({ text }) => text));
    cursor = page.cursor;
  }
  expect(found.sort()).toEqual(GROUPS.flatMap((group) => [0, 1, 2].map((i) => `${group}${i}`)).sort());
  expect(await ask("/queues/letters.fifo/messages?cursor=5_1")).toMatchObject({
    error: { code: "invalid_cursor" },
  });

  const [first] = (await ask("/queues/letters.fifo/messages?filter=f1")).messages;
  const story = await ask(`/queues/letters.fifo/messages/${first?.id}/story`);
  expect(story.events.map(({ kind, queue }) => [kind, queue])).toEqual([["accepted", "letters.fifo"]]);
  expect((await ask(`/queues/letters.fifo/messages/${first?.id.slice(0, 12)}`)).text).toBe("f1");

  const deleted = await ask("/queues/letters.fifo/messages/delete", "POST", { filter: "f" });
  expect(deleted).toEqual({ deleted: 3, cursor: null, searched: of, of });
  expect(await countOf("letters.fifo")).toBe(of - 3);
});

it("each shard is shown by itself", async () => {
  const { wanted, shards } = (await ask("/queues/letters.fifo/shards")) as unknown as {
    wanted: number;
    shards: { shard: number; state: string; messages: { ready: number }; failure: null }[];
  };
  expect([wanted, shards.map(({ shard, state }) => [shard, state])]).toEqual([
    3,
    [0, 1, 2].map((shard) => [shard, "open"]),
  ]);
  const held = shards.map(({ messages }) => messages.ready);
  const all = (await ask("/queues/letters.fifo")) as unknown as { messages: { ready: number } };
  expect(Math.min(...held)).toBeGreaterThan(0);
  expect(held.reduce((sum, ready) => sum + ready)).toBe(all.messages.ready);
});

it("the history of all shards is one, newest first and page by page", async () => {
  const events: { number: number; at: string; ids: string[] }[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const page = await ask(
      `/queues/letters.fifo/history?kind=accepted&max=3${cursor && `&cursor=${cursor}`}`,
    );
    expect(page.events.length).toBeLessThanOrEqual(3);
    events.push(...page.events);
    cursor = page.cursor;
  }
  expect(new Set(events.map(({ number }) => number)).size).toBe(events.length);
  expect(new Set(events.flatMap(({ ids: all }) => all)).size).toBe(3 * GROUPS.length);
  const times = events.map(({ at }) => at);
  expect(times).toEqual(times.toSorted().toReversed());
  expect(await ask("/queues/letters.fifo/history?cursor=1_x")).toMatchObject({
    error: { code: "invalid_query" },
  });
});

it("a purge empties all shards", async () => {
  await sqs.send(new PurgeQueueCommand({ QueueUrl: urlOf("letters.fifo") }));
  expect(await countOf("letters.fifo")).toBe(0);
  expect((await ask("/queues/letters.fifo/messages")).messages).toEqual([]);
  expect(await ask("/queues/letters.fifo/why")).toMatchObject({ reason: "empty" });
});

it("a receive that waits gets messages of one shard, and those that others had for it stay", async () => {
  const waiting = sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: urlOf("letters.fifo"),
      MaxNumberOfMessages: 2,
      WaitTimeSeconds: 20,
    }),
  );
  const entries = GROUPS.map((group) => ({
    Id: group,
    MessageGroupId: group,
    MessageDeduplicationId: `${group}-late`,
    MessageBody: group,
  }));
  const sent = await sqs.send(
    new SendMessageBatchCommand({ QueueUrl: urlOf("letters.fifo"), Entries: entries }),
  );
  expect(sent.Failed).toBeUndefined();
  const { Messages = [] } = await waiting;
  expect(Messages.length).toBeGreaterThan(0);
  const queue = await ask("/queues/letters.fifo");
  const leased = Messages.length;
  expect(queue).toMatchObject({ messages: { ready: GROUPS.length - leased, leased } });
});

it("a pull client pulls, acknowledges and retries by lease ids of any shard", async () => {
  for (let i = 0; i < 6; i++) await rest("pulled", "", { body: `${i}`, content_type: "text" });
  const pulled = await rest("pulled", "/pull", { batch_size: 4 });
  const leases = (pulled.messages as { lease_id: string }[]).map(({ lease_id }) => ({ lease_id }));
  expect(leases).toHaveLength(4);
  const settled = await rest("pulled", "/ack", { acks: leases.slice(0, 3), retries: leases.slice(3) });
  expect(settled).toMatchObject({ ackCount: 3, retryCount: 1, warnings: {} });
  const again = await rest("pulled", "/ack", { acks: leases.slice(0, 1) });
  expect(Object.keys(again.warnings as object)).toEqual([leases[0]?.lease_id]);
  expect(await countOf("pulled")).toBe(3);
});

it("the clock of the broker moves the queue's shards", async () => {
  await rest("pulled", "", { body: "late", content_type: "text", delay_seconds: 600 });
  expect(await ask("/queues/pulled")).toMatchObject({ messages: { delayed: 1 } });
  await ask("/clock", "POST", { advanceMs: 600_000 });
  expect(await ask("/queues/pulled")).toMatchObject({ messages: { delayed: 0, ready: 4 } });
});

it("an import goes to all shards in turn, new messages and those of a backup", async () => {
  const placed = async () => {
    const { shards } = (await ask("/queues/imported/shards")) as unknown as {
      shards: { messages: { ready: number } }[];
    };
    return shards.map(({ messages }) => messages.ready).sort();
  };
  const messages = [{ text: "1" }, { text: "2" }];
  // The first call may be before the gateway knows of shards.
  await ask("/queues/imported/messages/batch", "POST", { messages });
  await ask("/queues/imported/purge", "POST", {});
  for (let i = 0; i < 6; i++) await ask("/queues/imported/messages/batch", "POST", { messages });
  expect(await placed()).toEqual([4, 4, 4]);
  for (let i = 0; i < 3; i++) {
    const past = { id: `${i}`.repeat(32), sentAt: new Date().toISOString(), attempts: 1, text: "1" };
    await ask("/backup/messages?queue=imported", "POST", { messages: [past] });
  }
  expect(await placed()).toEqual([5, 5, 5]);
});
