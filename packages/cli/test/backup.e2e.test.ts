import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { PUSH_SETTINGS } from "@sluice/project/test/definitions";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BrokerLab } from "./broker-lab.ts";
import { callSqs } from "./serving.ts";

const ARN = "arn:aws:sqs:us-east-1:000000000000";

const from = new BrokerLab();
let url: string;
let endpoint: string;

async function emptyBroker(): Promise<{ lab: BrokerLab; url: string } & AsyncDisposable> {
  const lab = new BrokerLab();
  return { lab, url: await lab.serve(), [Symbol.asyncDispose]: () => lab.close() };
}

async function sqs(at: string, action: string, input: object): Promise<Record<string, unknown>> {
  const { status, answer } = await callSqs(`${at}/__sluice/aws`, action, input);
  expect(status, JSON.stringify(answer)).toBe(200);
  return answer;
}

async function sns(at: string, action: string, input: Readonly<Record<string, string>>): Promise<string> {
  const body = new URLSearchParams({ Action: action, Version: "2010-03-31", ...input });
  const response = await fetch(`${at}/__sluice/aws`, { method: "POST", body });
  const answer = await response.text();
  expect(response.status, answer).toBe(200);
  return answer;
}

async function api<T>(at: string, path: string): Promise<T> {
  const response = await fetch(`${at}/__sluice/api${path}`);
  expect(response.status).toBe(200);
  return (await response.json()) as T;
}

async function create(name: string, Attributes: Readonly<Record<string, string>> = {}): Promise<string> {
  return String((await sqs(url, "CreateQueue", { QueueName: name, Attributes })).QueueUrl);
}

/** Fetches a backup of a broker without what differs between two backups. */
async function contentOf(at: string) {
  const said = await from.run(["export", "--all", "--url", at]);
  expect(said.err).toMatch(/^Exported the broker with/);
  const lines = said.out.trimEnd().split("\n");
  const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return parsed.map(({ at: _, ...line }) => line);
}

beforeAll(async () => {
  url = await from.serve();
  endpoint = "https://user:hush@127.0.0.1:9/notify";
  const redrive = JSON.stringify({ deadLetterTargetArn: `${ARN}:a-dead`, maxReceiveCount: 2 });
  await create("a-dead", { MessageRetentionPeriod: "1209600" });
  const orders = await create("orders", { RedrivePolicy: redrive, VisibilityTimeout: "77" });
  await sqs(url, "SendMessage", {
    QueueUrl: orders,
    MessageBody: "received",
    MessageAttributes: { kind: { DataType: "Number", StringValue: "7" } },
  });
  await sqs(url, "ReceiveMessage", { QueueUrl: orders, VisibilityTimeout: 0 });
  await sqs(url, "SendMessage", { QueueUrl: orders, MessageBody: "delayed", DelaySeconds: 900 });
  const line = await create("line.fifo", { FifoQueue: "true" });
  for (const [MessageGroupId, MessageBody] of ["a1", "b1", "a2"].map((body) => [body.slice(0, 1), body])) {
    await sqs(url, "SendMessage", {
      QueueUrl: line,
      MessageBody,
      MessageGroupId,
      MessageDeduplicationId: MessageBody,
    });
  }
  const topic =
    /<TopicArn>(.*?)<\/TopicArn>/.exec(await sns(url, "CreateTopic", { Name: "news" }))?.[1] ?? "";
  const toQueue = { TopicArn: topic, Protocol: "sqs", Endpoint: `${ARN}:orders` };
  await sns(url, "Subscribe", {
    ...toQueue,
    "Attributes.entry.1.key": "FilterPolicy",
    "Attributes.entry.1.value": '{"kind":["x"]}',
  });
  await sns(url, "Subscribe", { TopicArn: topic, Protocol: "https", Endpoint: endpoint });
});
afterAll(() => from.close());

describe("sluice export --all and import --all", () => {
  it("bring back queues with their settings, messages, attempts and delays, topics and subscriptions", async () => {
    await using to = await emptyBroker();
    const before = await contentOf(url);
    expect(JSON.stringify(before)).not.toContain("hush");
    const { out } = await from.run(["export", "--all"]);
    const imported = await from.words(0, ["import", "--all", "--url", to.url], { input: out });
    expect(imported).toContain("Imported 3 queues, 1 topic, 1 subscription and 5 messages.");
    expect(imported).toMatch(/127.0.0.1:9\/notify has not confirmed/);
    const after = await contentOf(to.url);
    const messages = (lines: typeof before) =>
      lines.flatMap(({ message, in: queue }) => {
        const { delaySeconds, ...rest } = (message ?? {}) as { delaySeconds?: number };
        if (message === undefined) return [];
        return [{ queue, isDelayed: (delaySeconds ?? 0) > 800, ...rest }];
      });
    expect(messages(before)).toHaveLength(5);
    expect(messages(before)).toContainEqual(
      expect.objectContaining({ text: "received", attempts: 1, isDelayed: false }),
    );
    expect(messages(before)).toContainEqual(expect.objectContaining({ text: "delayed", isDelayed: true }));
    expect(messages(after)).toEqual(messages(before));
    const rest = (lines: typeof before) => lines.filter((line) => "queue" in line || "topic" in line);
    expect(rest(after)).toEqual(rest(before));
    // The copies behave the same: one more receive in vain, and the next one finds a dead letter.
    const QueueUrl = `${to.url}/000000000000/orders`;
    const taken = (await sqs(to.url, "ReceiveMessage", {
      QueueUrl,
      VisibilityTimeout: 0,
      MessageSystemAttributeNames: ["ApproximateReceiveCount"],
    })) as { Messages?: { Body: string; Attributes: Record<string, string> }[] };
    expect(taken.Messages).toMatchObject([
      { Body: "received", Attributes: { ApproximateReceiveCount: "2" } },
    ]);
    expect(await sqs(to.url, "ReceiveMessage", { QueueUrl, VisibilityTimeout: 0 })).toEqual({});
    const dead = await sqs(to.url, "ReceiveMessage", {
      QueueUrl: `${to.url}/000000000000/a-dead`,
      WaitTimeSeconds: 5,
    });
    expect(dead.Messages).toMatchObject([{ Body: "received" }]);
  });

  it("ask confirmed endpoints to confirm anew, and leave out the messages that wait for them", async () => {
    const asked = Promise.withResolvers<{ TopicArn: string; Token: string }>();
    const server = createServer(async (request, response) => {
      asked.resolve(JSON.parse(await text(request)) as { TopicArn: string; Token: string });
      response.end();
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const Endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    await using source = await emptyBroker();
    await using to = await emptyBroker();
    const created = await sns(source.url, "CreateTopic", { Name: "alerts" });
    const TopicArn = /<TopicArn>(.*?)<\/TopicArn>/.exec(created)?.[1] ?? "";
    await sns(source.url, "Subscribe", { TopicArn, Protocol: "http", Endpoint });
    const { Token } = await asked.promise;
    await sns(source.url, "ConfirmSubscription", { TopicArn, Token, AuthenticateOnUnsubscribe: "true" });
    // The endpoint is gone from now on, so published messages wait.
    server.closeAllConnections();
    await once(server.close(), "close");
    await sns(source.url, "Publish", { TopicArn, Message: "fire" });
    const { out } = await from.run(["export", "--all", "--url", source.url]);
    expect(out).toContain("fire");
    const args = ["import", "--all", "--url", to.url];
    const shown =
      "This backup posts messages to 1 HTTP endpoint:\n" +
      `  topic ${TopicArn}: ${Endpoint}, once it has confirmed anew; one that is subscribed already stays as it is\n`;
    const refused = await from.run(args, { input: out });
    expect(refused).toMatchObject({ code: 5, err: expect.stringContaining(shown) });
    expect(refused.err).toContain("There is no terminal to ask at: --yes confirms it.");
    expect(await api(to.url, "/topics")).toEqual({ topics: [] });
    const imported = await from.run([...args, "--yes"], { input: out });
    expect(imported).toMatchObject({
      code: 0,
      err:
        `${shown}Imported 0 queues, 1 topic, 1 subscription and 0 messages. Asked 1 HTTP endpoint to confirm: before ` +
        "that no message is posted there. Left out 1 message for endpoints that have not confirmed: the backup has " +
        "them.\n",
    });
    const subscription = { topicArn: TopicArn, protocol: "http", endpoint: Endpoint, isConfirmed: false };
    expect(await contentOf(to.url)).toContainEqual({
      topicSubscription: expect.objectContaining(subscription),
    });
  });

  it("show the HTTP endpoint of a queue with its settings, and warn of missing variables", async () => {
    await using to = await emptyBroker();
    const settings = { ...PUSH_SETTINGS, headers: { "X-A": "$SLUICE_API_TOKENS" } };
    const queue = {
      name: "nightly",
      jurisdiction: null,
      dialects: {},
      consumer: { type: "http_push", settings },
      settings: { deliveryDelaySeconds: 0, messageRetentionSeconds: 60 },
    };
    const header = { sluice: "backup", version: 1, at: "", queues: ["nightly"], topics: [] };
    const input = [header, { queue }, { end: { messages: 0 } }]
      .map((line) => JSON.stringify(line))
      .join("\n");
    const args = ["import", "--all", "--url", to.url];
    expect(await from.words(5, args, { input: `${input}\n` })).toContain(
      "  queue nightly: http://127.0.0.1:9/collect, which asks for SLUICE_API_TOKENS\n",
    );
    expect(await api(to.url, "/queues")).toMatchObject({ queues: [] });
    expect(await from.words(0, [...args, "--yes"], { input: `${input}\n` })).toContain(
      "Messages of nightly wait, its endpoint cannot be called: the variable SLUICE_API_TOKENS is the broker's own",
    );
  });

  it("name the line and the key that is wrong, and stop there", async () => {
    await using to = await emptyBroker();
    const { out } = await from.run(["export", "--all"]);
    const broken = out.replace('"settings":{', '"settings":{"consumer":7,');
    expect(await from.words(1, ["import", "--all", "--url", to.url], { input: broken })).toMatch(
      /-:2: .*settings.*"consumer"/,
    );
    expect(await api(to.url, "/queues")).toMatchObject({ queues: [] });
  });

  it("leave existing queues alone: by a refusal, or by a merge", async () => {
    await using to = await emptyBroker();
    await to.lab.run(["queues", "create", "orders", "--delivery-delay-secs", "5"]);
    const { out } = await from.run(["export", "--all"]);
    const on = ["--url", to.url];
    expect(await from.words(1, ["import", "--all", ...on], { input: out })).toMatch(
      /has these of the backup already: orders\. --merge keeps them as they are/,
    );
    const { queues } = await api<{ queues: object[] }>(to.url, "/queues");
    expect(queues).toHaveLength(1);
    const merged = await from.run(["import", "--all", "--merge", "--json", ...on], { input: out });
    expect(JSON.parse(merged.out)).toEqual({
      queues: 2,
      topics: 1,
      subscriptions: 1,
      messages: 5,
      existed: 1,
      asked: 0,
      leftOut: 0,
    });
    const { settings } = await api<{ settings: object }>(to.url, "/queues/orders");
    expect(settings).toMatchObject({ deliveryDelaySeconds: 5 });
  });

  it("refuse a file that is not a backup, has another version, or was cut off", async () => {
    const path = join(from.folder, "cut.jsonl");
    const { out } = await from.run(["export", "--all"]);
    const importing = (input: string) => from.run(["import", "--all", "--merge"], { input });
    expect(await importing('{"body": 1}\n')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/is not a backup/),
    });
    const [header = "", ...lines] = out.trimEnd().split("\n");
    const later = [header.replace('"version":1', '"version":2'), ...lines].join("\n");
    expect(await importing(later)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/of version 2, and this sluice reads version 1/),
    });
    writeFileSync(path, out.slice(0, -30));
    expect(await from.words(1, ["import", "--all", "cut.jsonl"])).toMatch(
      /cut.jsonl ends in the middle: its export was stopped/,
    );
    for (const args of [
      ["export"],
      ["export", "orders", "--all"],
      ["import"],
      ["import", "orders", "--merge"],
      ["import", "orders", "--yes"],
    ])
      expect(await from.run(args)).toMatchObject({ code: 2 });
  });

  it("need the scope admin", async () => {
    await using lab = new BrokerLabOf();
    const closed = await lab.serve({ SLUICE_API_TOKENS: "secret" });
    const env = { SLUICE_API_TOKEN: "secret" };
    const { out: reader } = await lab.run(["tokens", "create", "reader", "--scope", "read"], { env });
    expect(await lab.words(1, ["export", "--all", "--url", closed, "--token", reader.trim()])).toContain(
      "needs the scope admin",
    );
  });
});

class BrokerLabOf extends BrokerLab implements AsyncDisposable {
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

it("an export of a broker in use has all that was accepted before it, and nothing that was settled before it", {
  tags: "slow",
}, async () => {
  await using source = await emptyBroker();
  await using to = await emptyBroker();
  const at = ["--url", source.url];
  const redrive = JSON.stringify({ deadLetterTargetArn: `${ARN}:busy-dead`, maxReceiveCount: 1 });
  await sqs(source.url, "CreateQueue", { QueueName: "busy-dead" });
  await sqs(source.url, "CreateQueue", { QueueName: "busy", Attributes: { RedrivePolicy: redrive } });
  const QueueUrl = `${source.url}/000000000000/busy`;
  const acknowledged: string[] = [];
  const deleted: string[] = [];
  const sendTen = async (from: number) => {
    const bodies = Array.from({ length: 10 }, (_, i) => `m${from + i}`);
    const Entries = bodies.map((MessageBody, i) => ({ Id: `${i}`, MessageBody }));
    await sqs(source.url, "SendMessageBatch", { QueueUrl, Entries });
    acknowledged.push(...bodies);
  };
  for (let n = 0; n < 600; n += 10) await sendTen(n);
  const before = [...acknowledged];
  const stop = new AbortController();
  // One loop sends; the other handles messages and lets some become dead letters.
  const sending = (async () => {
    for (let n = 1_000; !stop.signal.aborted; n += 10) await sendTen(n);
  })();
  const receiving = (async () => {
    for (let n = 0; !stop.signal.aborted; n++) {
      const input = { QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: n % 2 === 0 ? 30 : 0 };
      const { Messages = [] } = (await sqs(source.url, "ReceiveMessage", input)) as {
        Messages?: { Body: string; ReceiptHandle: string }[];
      };
      if (n % 2 !== 0) continue;
      for (const { Body, ReceiptHandle } of Messages) {
        await sqs(source.url, "DeleteMessage", { QueueUrl, ReceiptHandle });
        deleted.push(Body);
      }
    }
  })();
  // The load is first under way, then the export begins.
  while (deleted.length < 20) await sleep(5);
  const settledBefore = [...deleted];
  const said = await from.run(["export", "--all", "--output", "busy.jsonl", ...at]);
  stop.abort();
  await Promise.all([sending, receiving]);
  expect(said, said.err).toMatchObject({ code: 0 });
  expect(await from.run(["import", "--all", "busy.jsonl", "--url", to.url])).toMatchObject({ code: 0 });
  expect(existsSync(join(from.folder, "busy.jsonl.sluice-import"))).toBe(false);
  const lines = (await contentOf(to.url)) as { message?: { text: string } }[];
  const restored = lines.flatMap(({ message }) => (message === undefined ? [] : [message.text]));
  const missing = before.filter((body) => !restored.includes(body) && !deleted.includes(body));
  expect(missing).toEqual([]);
  expect(restored.filter((body) => settledBefore.includes(body))).toEqual([]);
  expect(restored.filter((body) => !acknowledged.includes(body))).toEqual([]);
});

it("a stopped export and a stopped import of a broker continue where they were", {
  tags: "slow",
}, async () => {
  await using source = await emptyBroker();
  await using to = await emptyBroker();
  await source.lab.run(["queues", "create", "many"]);
  const bodies = Array.from({ length: 350 }, (_, i) => `m${i}`);
  const input = bodies.map((body) => `${JSON.stringify({ body })}\n`).join("");
  await source.lab.run(["import", "many"], { input });
  const args = ["export", "--all", "--output", "stopped.jsonl", "--url", source.url];
  const file = join(from.folder, "stopped.jsonl");
  expect(await from.run(args)).toMatchObject({ code: 0 });
  const whole = readFileSync(file, "utf8").trimEnd().split("\n");
  // A process killed after the second page, while it writes the third, leaves this.
  const page = whole.slice(0, 202).join("\n");
  const { out } = await from.run(["export", "--all", "--url", source.url]);
  expect(out.split("\n")).toHaveLength(whole.length + 1);
  const first = await api<{ cursor: string }>(source.url, "/backup/messages?queue=many");
  const second = await api<{ cursor: string }>(
    source.url,
    `/backup/messages?queue=many&cursor=${first.cursor}`,
  );
  const state = {
    begunAt: new Date().toISOString(),
    holders: ["many"],
    cursor: second.cursor,
    messages: 200,
  };
  writeFileSync(file, `${page}\n{"in":"many","mess`);
  const bytes = Buffer.byteLength(page) + 1;
  writeFileSync(`${file}.sluice-export`, JSON.stringify({ ...state, bytes }));
  expect(await from.words(1, ["import", "--all", "stopped.jsonl", "--url", to.url])).toMatch(
    /ends in the middle/,
  );
  expect(await from.words(0, [...args, "--resume"])).toBe("Exported the broker with 350 messages.\n");
  expect(readFileSync(file, "utf8").trimEnd().split("\n").slice(1)).toEqual(whole.slice(1));
  expect(await from.words(0, [...args, "--resume"])).toMatch(/is complete/);

  // The first line is the header, the second the queue, and a hundred messages are stored.
  await from.run(["import", "--all", "--url", to.url], { input: `${whole.slice(0, 102).join("\n")}\n` });
  writeFileSync(`${file}.sluice-import`, JSON.stringify({ lines: 102, targets: {} }));
  const again = ["import", "--all", "stopped.jsonl", "--url", to.url];
  expect(await from.words(1, again)).toMatch(/has stopped after line 102/);
  expect(await from.words(0, [...again, "--resume"])).toBe(
    "Imported 0 queues, 0 topics, 0 subscriptions and 250 messages.\n",
  );
  const restored = (await contentOf(to.url)) as { message?: { text: string } }[];
  expect(restored.flatMap(({ message }) => (message === undefined ? [] : [message.text]))).toEqual(bodies);
});
