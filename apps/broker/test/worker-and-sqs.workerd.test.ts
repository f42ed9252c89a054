import { createHash } from "node:crypto";
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import type { WorkerdProcess } from "@sluice/protocol/test/workerd-process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { awsOptions } from "./any-broker.ts";
import { consumerText, queueText, startBrokerOfWorkers } from "./broker-of-workers.ts";

/* One queue, two protocols: a Worker's binding sends, an SQS client receives, and the reverse (docs/sqs.md). */

const QUEUES = `
  outbox: ${queueText("consumer: null")},
  jobs: ${queueText(`consumer: ${consumerText('maxBatchSize: 10, deadLetterQueue: "dead"')}`)},
  dead: ${queueText("consumer: null")},
`;
const PRODUCER = `
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/__sluice/")) return env.BROKER.fetch(request);
    await env.OUTBOX.sendBatch([
      { body: { a: [1, "é"] }, contentType: "json" },
      { body: "tëxt", contentType: "text" },
      { body: new Uint8Array([0, 255]), contentType: "bytes" },
      { body: new Map([["k", 1n]]), contentType: "v8" },
      { body: "", contentType: "text" },
      { body: "a\\u0001b", contentType: "text" },
    ]);
    await env.JOBS.send({ job: "poison" });
    return new Response("sent");
  },
};
`;
const HANDLE = `
  for (const message of batch.messages) {
    console.log("GOT " + JSON.stringify([message.body, message.attempts]));
    if (message.body.job === "poison") message.retry();
  }
`;
const binding = (name: string, queue: string) =>
  `(name = "${name}", queue = (name = "broker", entrypoint = "QueueBinding", props = (json = ` +
  `"{\\"queue\\": \\"${queue}\\"}")))`;

let workerd: WorkerdProcess;
let endpoint: string;
let sqs: SQSClient;

beforeAll(async () => {
  workerd = await startBrokerOfWorkers({
    queues: QUEUES,
    producer: { source: PRODUCER, bindings: `${binding("OUTBOX", "outbox")}, ${binding("JOBS", "jobs")}` },
    handle: HANDLE,
  });
  endpoint = `${new URL((await workerd.fetch("/__sluice/health")).url).origin}/__sluice/aws`;
  sqs = new SQSClient(awsOptions(endpoint));
  await workerd.fetch("/");
});
afterAll(async () => {
  sqs.destroy();
  await workerd[Symbol.asyncDispose]();
});

const urlOf = (queue: string) => `${endpoint}/000000000000/${queue}`;
const md5 = (text: string) => createHash("md5").update(text).digest("hex");

async function receive(queue: string, options: object = {}) {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: urlOf(queue),
      MaxNumberOfMessages: 10,
      WaitTimeSeconds: 10,
      MessageSystemAttributeNames: ["All"],
      ...options,
    }),
  );
  return Messages;
}

it("an SQS client receives a Worker's messages: texts and JSON as they are, others as base64", async () => {
  const messages = await receive("outbox", { VisibilityTimeout: 0 });
  const [json, text, bytes, v8, empty, control] = messages;
  expect(JSON.parse(json?.Body ?? "")).toEqual({ a: [1, "é"] });
  expect([text?.Body, bytes?.Body, empty?.Body, control?.Body]).toEqual(["tëxt", "AP8=", "", "a\u0001b"]);
  expect(v8?.Body).toMatch(/^[A-Za-z0-9+/]{8,}={0,2}$/);
  for (const { Attributes, MD5OfBody, Body = "" } of messages) {
    expect(Attributes).toMatchObject({
      ApproximateReceiveCount: "1",
      SentTimestamp: expect.stringMatching(/^\d{13}$/),
    });
    expect(MD5OfBody).toBe(md5(Body));
  }
});

it("XML has the replacement character for invalid ones, and a digest of that text", async () => {
  const parameters = { Action: "ReceiveMessage", QueueUrl: urlOf("outbox"), MaxNumberOfMessages: "10" };
  const answer = await fetch(`${endpoint}/`, { method: "POST", body: new URLSearchParams(parameters) });
  const text = await answer.text();
  expect(text).toContain(`<MD5OfBody>${md5("a\ufffdb")}</MD5OfBody><Body>a\ufffdb</Body>`);
  expect(text).toContain("<Body/>");
});

it("a Worker's handler gets an SQS client's messages as text, with their attempts", async () => {
  const MessageAttributes = { k: { DataType: "String", StringValue: "v" } };
  await sqs.send(
    new SendMessageCommand({ QueueUrl: urlOf("jobs"), MessageBody: '{"from":"sqs"}', MessageAttributes }),
  );
  await workerd.printed('GOT ["{\\"from\\":\\"sqs\\"}",1]');
});

it("a dead-letter queue takes messages of both, and names their origin", async () => {
  await workerd.printed('GOT [{"job":"poison"},2]');
  const deadLetterTargetArn = "arn:aws:sqs:us-east-1:000000000000:dead";
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 1 });
  const { QueueUrl } = await sqs.send(
    new CreateQueueCommand({ QueueName: "orders", Attributes: { RedrivePolicy } }),
  );
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "refused" }));
  expect(await receive("orders", { VisibilityTimeout: 0 })).toHaveLength(1);
  expect(await receive("orders", { WaitTimeSeconds: 0 })).toEqual([]);
  const dead: unknown[] = [];
  while (dead.length < 2) {
    for (const { Body, Attributes, ReceiptHandle } of await receive("dead")) {
      const { DeadLetterQueueSourceArn, ApproximateReceiveCount } = Attributes ?? {};
      dead.push([Body, DeadLetterQueueSourceArn, ApproximateReceiveCount]);
      await sqs.send(new DeleteMessageCommand({ QueueUrl: urlOf("dead"), ReceiptHandle }));
    }
  }
  expect(dead).toEqual([
    // As on Cloudflare, the attempts of a dead letter begin anew.
    ['{"job":"poison"}', "arn:aws:sqs:us-east-1:000000000000:jobs", "1"],
    ["refused", "arn:aws:sqs:us-east-1:000000000000:orders", "2"],
  ]);
});

it("an attribute set by an SQS client applies to all senders of the queue", async () => {
  await sqs.send(
    new SetQueueAttributesCommand({ QueueUrl: urlOf("outbox"), Attributes: { DelaySeconds: "900" } }),
  );
  await workerd.fetch("/");
  const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl: urlOf("outbox") }));
  expect(Messages).toBeUndefined();
});
