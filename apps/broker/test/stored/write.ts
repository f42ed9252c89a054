// Writes a stored shape: a packed data folder as a killed release leaves it, and a description of its contents.
//   node apps/broker/test/stored/write.ts NAME [MAIN]
// MAIN is packages/cli/src/main.ts of another checkout. Default: that of this one.
// Run it when the storage of a release differs from the shapes that are here.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { StoredShape } from "./shape.ts";

const [name, main = join(import.meta.dirname, "../../../../packages/cli/src/main.ts")] =
  process.argv.slice(2);
if (name === undefined) throw new Error("a stored shape needs a name: that of the release");

const ACCOUNT = "000000000000";
const ARN = `arn:aws:sqs:us-east-1:${ACCOUNT}`;
/** Two weeks, so that nothing expires during the test. */
const RETENTION = "1209600";

const folder = mkdtempSync(join(tmpdir(), "sluice-stored-"));
// The webhook has no key, so that reports stay stored.
writeFileSync(
  join(folder, "wrangler.toml"),
  'name = "stored"\n[sluice.alerts]\nurl = "https://hooks.shop.example/"\n',
);
const child = spawn(process.execPath, [main, "serve", "--port", "0", "--persist-to", folder], {
  cwd: folder,
  stdio: ["ignore", "pipe", "inherit"],
});
const endpoint = await new Promise<string>((resolve, reject) => {
  child.once("exit", (code) => reject(new Error(`it ended with ${code}`)));
  createInterface({ input: child.stdout }).on("line", (line) => {
    const [, url] = /^export AWS_ENDPOINT_URL_SQS=(\S+)$/.exec(line) ?? [];
    if (url !== undefined) resolve(url);
  });
});

async function sqs(action: string, input: object): Promise<Record<string, unknown>> {
  const response = await fetch(endpoint, {
    method: "POST",
    headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` },
    body: JSON.stringify(input),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${action}: ${text}`);
  return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
}

async function sns(action: string, input: Readonly<Record<string, string>>): Promise<string> {
  const body = new URLSearchParams({ Action: action, Version: "2010-03-31", ...input });
  const response = await fetch(endpoint, { method: "POST", body });
  const text = await response.text();
  if (!response.ok) throw new Error(`${action}: ${text}`);
  return text;
}

const create = async (QueueName: string, Attributes: Readonly<Record<string, string>> = {}) => {
  const attributes = { MessageRetentionPeriod: RETENTION, ...Attributes };
  return String((await sqs("CreateQueue", { QueueName, Attributes: attributes })).QueueUrl);
};
const send = (QueueUrl: string, MessageBody: string, more: object = {}) =>
  sqs("SendMessage", { QueueUrl, MessageBody, ...more });
const receive = async (QueueUrl: string, VisibilityTimeout: number, MaxNumberOfMessages = 10) => {
  const input = { QueueUrl, VisibilityTimeout, MaxNumberOfMessages };
  const { Messages = [] } = await sqs("ReceiveMessage", input);
  return Messages as { readonly Body: string; readonly ReceiptHandle: string }[];
};

const dead = await create("orders-dead");
const redrive = JSON.stringify({ deadLetterTargetArn: `${ARN}:orders-dead`, maxReceiveCount: 2 });
const orders = await create("orders", { RedrivePolicy: redrive });
for (const body of ["dead 1", "dead 2"]) await send(orders, body);
for (let attempt = 0; attempt < 3; attempt++) await receive(orders, 0);
await sqs("ReceiveMessage", { QueueUrl: dead, VisibilityTimeout: 0, WaitTimeSeconds: 5 });

const Entries = Array.from({ length: 10 }, (_, i) => ({
  Id: `${i}`,
  MessageBody: `batch ${i}`,
  MessageAttributes: { kind: { DataType: "String", StringValue: `${i % 2}` } },
}));
await sqs("SendMessageBatch", { QueueUrl: orders, Entries });
await send(orders, `large ${"ö".repeat(100_000)}`);
const taken = await receive(orders, 43_200, 4);
const [deleted, kept] = [taken.slice(0, 2), taken.slice(2)];
for (const { ReceiptHandle } of deleted) await sqs("DeleteMessage", { QueueUrl: orders, ReceiptHandle });
for (let i = 0; i < 3; i++) await send(orders, `delayed ${i}`, { DelaySeconds: 900 });

const line = await create("line.fifo", { FifoQueue: "true", ContentBasedDeduplication: "true" });
for (const group of ["a", "b"])
  for (let i = 0; i < 3; i++) await send(line, `${group} ${i}`, { MessageGroupId: group });
await receive(line, 43_200, 1);

const news = await create("news");
const topic = /<TopicArn>(.*?)<\/TopicArn>/.exec(await sns("CreateTopic", { Name: "updates" }))?.[1] ?? "";
await sns("Subscribe", {
  TopicArn: topic,
  Protocol: "sqs",
  Endpoint: `${ARN}:news`,
  "Attributes.entry.1.key": "RawMessageDelivery",
  "Attributes.entry.1.value": "true",
});
await sns("Publish", { TopicArn: topic, Message: "published" });
await sqs("ReceiveMessage", { QueueUrl: news, VisibilityTimeout: 0, WaitTimeSeconds: 5 });

const purged = await create("purged");
await send(purged, "gone");
await sqs("PurgeQueue", { QueueUrl: purged });
const removed = await create("removed");
await send(removed, "gone");
await sqs("DeleteQueue", { QueueUrl: removed });

interface AlertsAnswer {
  readonly alerts: { readonly queue: string; readonly alert: string; readonly since: string }[];
  readonly webhook: { readonly waiting: number };
}
const alertsView = (await (await fetch(new URL("/__sluice/api/alerts", endpoint))).json()) as AlertsAnswer;

const shape: StoredShape = {
  at: new Date().toISOString(),
  queues: {
    orders: [
      ...Entries.map(({ MessageBody }) => MessageBody).filter(
        (body) => !deleted.some(({ Body }) => Body === body),
      ),
      "large",
      ...Array.from({ length: 3 }, (_, i) => `delayed ${i}`),
    ].sort(),
    "orders-dead": ["dead 1", "dead 2"],
    "line.fifo": ["a 0", "a 1", "a 2", "b 0", "b 1", "b 2"],
    news: ["published"],
    purged: [],
  },
  leased: kept.map(({ Body }) => Body).sort(),
  topics: [topic],
  alerts: {
    on: alertsView.alerts.map(({ queue, alert, since }) => ({ queue, alert, since })),
    waiting: alertsView.webhook.waiting,
  },
};
child.removeAllListeners("exit");
child.kill("SIGKILL");
await once(child, "exit");
const here = import.meta.dirname;
execFileSync("tar", ["-czf", join(here, `${name}.tar.gz`), "-C", folder, "v3"]);
writeFileSync(join(here, `${name}.json`), `${JSON.stringify(shape, null, 2)}\n`);
rmSync(folder, { recursive: true, force: true });
console.log(`${name}: written`);
