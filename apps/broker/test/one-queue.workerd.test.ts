import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ListDeadLetterSourceQueuesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { buildTopology, readWorkerConfig } from "@sluice/config";
import Cloudflare from "cloudflare";
import { afterEach, beforeEach, expect, it } from "vitest";
import { awsOptions } from "./any-broker.ts";
import { startBrokerWorker } from "./broker-worker.ts";

/*
 * One queue by any interface: settings in a wrangler.toml, over Cloudflare's REST API or over SQS are visible to the
 * others, and the latest change applies. Each test is a line of the table in docs/sqs.md.
 */

const account_id = "any-account";

const TOML = `
name = "shop"
[[queues.consumers]]
queue = "mails"
max_retries = 1
dead_letter_queue = "dead-mails"
[sluice.queues.orders]
delivery_delay = 5
message_retention_period = 86400
visibility_timeout = 60
receive_wait_time = 3
redrive = { dead_letter_queue = "dead", max_receive_count = 4 }
[sluice.queues."orders.fifo"]
content_based_deduplication = true
deduplication_scope = "messageGroup"
`;

let folder: string;
let dispose: () => Promise<void>;
let endpoint: string;
let sqs: SQSClient;
let rest: Cloudflare["queues"];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-one-queue-"));
  await deploy(TOML);
});

afterEach(async () => {
  await stop();
  rmSync(folder, { recursive: true });
});

async function stop(): Promise<void> {
  sqs.destroy();
  await dispose();
}

/** Starts a broker that is deployed with a wrangler.toml, on the data of the one before. */
async function deploy(toml: string): Promise<void> {
  const file = join(folder, "wrangler.toml");
  writeFileSync(file, toml);
  const topology = JSON.stringify(buildTopology([readWorkerConfig(file)]));
  const entry = `
    import { defineBroker } from "@sluice/broker-worker";
    const consumers = { shop: "CONSUMER" };
    const { QueueBroker, Directory, handler } = defineBroker({ topology: ${topology}, consumers });
    export { Directory, QueueBroker };
    export default handler;
  `;
  const disposeWith = (end: () => Promise<void>) => {
    dispose = end;
  };
  const persistDir = join(folder, "data");
  const broker = await startBrokerWorker(entry, { SLUICE_ENV: "development" }, { disposeWith, persistDir });
  const { origin } = await broker.ready;
  endpoint = `${origin}/__sluice/aws`;
  sqs = new SQSClient(awsOptions(endpoint));
  rest = new Cloudflare({ baseURL: `${origin}/__sluice/client/v4`, apiToken: "any", maxRetries: 0 }).queues;
}

const urlOf = (queue: string) => `${endpoint}/000000000000/${queue}`;

async function attributes(queue: string): Promise<Record<string, string>> {
  const asked = new GetQueueAttributesCommand({ QueueUrl: urlOf(queue), AttributeNames: ["All"] });
  return (await sqs.send(asked)).Attributes ?? {};
}

async function set(queue: string, Attributes: Record<string, string>): Promise<void> {
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl: urlOf(queue), Attributes }));
}

async function seenOverRest(queue: string) {
  for await (const found of rest.list({ account_id })) if (found.queue_name === queue) return found;
  throw new Error(`there is no queue ${queue}`);
}

async function setOverRest(queue: string, settings: object): Promise<void> {
  const { queue_id: queueId = "" } = await seenOverRest(queue);
  await rest.edit(queueId, { account_id, settings });
}

it("delivery_delay is DelaySeconds, message_retention_period is MessageRetentionPeriod", async () => {
  expect(await attributes("orders")).toMatchObject({ DelaySeconds: "5", MessageRetentionPeriod: "86400" });
  expect((await seenOverRest("orders")).settings).toMatchObject({
    delivery_delay: 5,
    message_retention_period: 86_400,
  });
  await setOverRest("orders", { delivery_delay: 7_200, message_retention_period: 60 });
  expect(await attributes("orders")).toMatchObject({ DelaySeconds: "7200", MessageRetentionPeriod: "60" });
  await set("orders", { DelaySeconds: "900", MessageRetentionPeriod: "1209600" });
  expect((await seenOverRest("orders")).settings).toMatchObject({
    delivery_delay: 900,
    message_retention_period: 1_209_600,
  });
  await stop();
  await deploy(TOML.replace("delivery_delay = 5", "delivery_delay = 6"));
  expect(await attributes("orders")).toMatchObject({ DelaySeconds: "6", MessageRetentionPeriod: "1209600" });
});

it("visibility_timeout is VisibilityTimeout, receive_wait_time is ReceiveMessageWaitTimeSeconds", async () => {
  expect(await attributes("orders")).toMatchObject({
    VisibilityTimeout: "60",
    ReceiveMessageWaitTimeSeconds: "3",
  });
  await set("orders", { VisibilityTimeout: "43200" });
  await stop();
  await deploy(TOML.replace("receive_wait_time = 3", "receive_wait_time = 0"));
  expect(await attributes("orders")).toMatchObject({
    VisibilityTimeout: "43200",
    ReceiveMessageWaitTimeSeconds: "0",
  });
});

it("redrive is RedrivePolicy", async () => {
  const policyOf = async () => JSON.parse((await attributes("orders")).RedrivePolicy ?? "null");
  const arn = (queue: string) => `arn:aws:sqs:us-east-1:000000000000:${queue}`;
  expect(await policyOf()).toEqual({ deadLetterTargetArn: arn("dead"), maxReceiveCount: 4 });
  const asked = new ListDeadLetterSourceQueuesCommand({ QueueUrl: urlOf("dead") });
  expect((await sqs.send(asked)).queueUrls).toEqual([urlOf("orders")]);
  const changed = { maxReceiveCount: "1", deadLetterTargetArn: arn("dead-mails") };
  await set("orders", { RedrivePolicy: JSON.stringify(changed), DelaySeconds: "0" });
  expect(await policyOf()).toEqual(changed);
  await sqs.send(new SendMessageCommand({ QueueUrl: urlOf("orders"), MessageBody: "m" }));
  const receive = new ReceiveMessageCommand({
    QueueUrl: urlOf("orders"),
    VisibilityTimeout: 0,
    WaitTimeSeconds: 0,
  });
  expect((await sqs.send(receive)).Messages).toHaveLength(1);
  expect((await sqs.send(receive)).Messages).toBeUndefined();
  await stop();
  await deploy(TOML.replace("max_receive_count = 4", "max_receive_count = 9"));
  expect(await policyOf()).toEqual({ deadLetterTargetArn: arn("dead"), maxReceiveCount: 9 });
  await set("orders", { RedrivePolicy: "" });
  expect(await policyOf()).toBeNull();
});

it("a name that ends in .fifo is a FIFO queue, with its two keys of deduplication as attributes", async () => {
  expect(await attributes("orders.fifo")).toMatchObject({
    FifoQueue: "true",
    ContentBasedDeduplication: "true",
    DeduplicationScope: "messageGroup",
  });
  const send = (MessageGroupId: string) =>
    sqs.send(new SendMessageCommand({ QueueUrl: urlOf("orders.fifo"), MessageBody: "m", MessageGroupId }));
  const [first, again, other] = [await send("a"), await send("a"), await send("b")];
  expect([again.MessageId === first.MessageId, other.MessageId === first.MessageId]).toEqual([true, false]);
  await set("orders.fifo", { ContentBasedDeduplication: "false" });
  await expect(send("c")).rejects.toThrow("ContentBasedDeduplication enabled");
  await stop();
  await deploy(TOML);
  expect(await attributes("orders.fifo")).toMatchObject({ ContentBasedDeduplication: "false" });
});

it("a consumer and its dead_letter_queue are no attribute, and pausing stops receives", async () => {
  expect(await attributes("mails")).not.toHaveProperty("RedrivePolicy");
  expect((await seenOverRest("mails")).consumers).toMatchObject([
    { script: "shop", dead_letter_queue: "dead-mails" },
  ]);
  await set("orders", { DelaySeconds: "0" });
  await setOverRest("orders", { delivery_paused: true });
  await sqs.send(new SendMessageCommand({ QueueUrl: urlOf("orders"), MessageBody: "m" }));
  const receive = new ReceiveMessageCommand({ QueueUrl: urlOf("orders"), WaitTimeSeconds: 0 });
  expect((await sqs.send(receive)).Messages).toBeUndefined();
  await setOverRest("orders", { delivery_paused: false });
  expect((await sqs.send(receive)).Messages).toHaveLength(1);
});

it("a Worker can consume a queue that SQS creates, and SQS receive from one that the REST API creates", async () => {
  await sqs.send(new CreateQueueCommand({ QueueName: "from-sqs", Attributes: { VisibilityTimeout: "5" } }));
  const { queue_id: queueId = "" } = await seenOverRest("from-sqs");
  await rest.consumers.create(queueId, {
    account_id,
    type: "worker",
    script_name: "shop",
    settings: { batch_size: 1, max_wait_time_ms: 0 },
  });
  await sqs.send(new SendMessageCommand({ QueueUrl: urlOf("from-sqs"), MessageBody: "m" }));
  await expect
    .poll(() => attributes("from-sqs"))
    .toMatchObject({ ApproximateNumberOfMessages: "0", ApproximateNumberOfMessagesNotVisible: "0" });
  await rest.create({ account_id, queue_name: "from-rest" });
  await sqs.send(new SendMessageCommand({ QueueUrl: urlOf("from-rest"), MessageBody: "m" }));
  expect((await sqs.send(new ReceiveMessageCommand({ QueueUrl: urlOf("from-rest") }))).Messages).toHaveLength(
    1,
  );
});
