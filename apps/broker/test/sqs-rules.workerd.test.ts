import {
  CancelMessageMoveTaskCommand,
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  ListMessageMoveTasksCommand,
  type Message,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";
import { beforeAll, expect, it } from "vitest";
import { awsOptions, startSharedBroker } from "./any-broker.ts";

/** Rules of SQS that only show between a client, the directory and several queues, on a broker with strict timing. */

let sqs: SQSClient;

beforeAll(async () => {
  const bindings = { SLUICE_ENV: "development", SLUICE_AWS_STRICT_TIMING: "true" };
  const broker = await startSharedBroker(bindings);
  sqs = new SQSClient(awsOptions(`${broker.origin}/__sluice/aws`));
  return async () => {
    sqs.destroy();
    await broker.dispose();
  };
});

async function created(QueueName: string, Attributes: Record<string, string> = {}): Promise<string> {
  const { QueueUrl = "" } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
  return QueueUrl;
}

const arnOf = (queue: string) => `arn:aws:sqs:us-east-1:000000000000:${queue}`;

async function send(QueueUrl: string, MessageBody: string, input: object = {}) {
  return sqs.send(new SendMessageCommand({ QueueUrl, MessageBody, ...input }));
}

async function receive(QueueUrl: string, input: object = {}): Promise<Message[]> {
  const asked = {
    QueueUrl,
    MaxNumberOfMessages: 10,
    MessageSystemAttributeNames: ["All" as const],
    ...input,
  };
  return (await sqs.send(new ReceiveMessageCommand(asked))).Messages ?? [];
}

const bodies = (messages: readonly Message[]) => messages.map(({ Body }) => Body);

it("the name of a deleted queue, and a purged queue, cannot be used so again for 60 seconds", async () => {
  const QueueUrl = await created("strict");
  await sqs.send(new PurgeQueueCommand({ QueueUrl }));
  await expect(sqs.send(new PurgeQueueCommand({ QueueUrl }))).rejects.toThrow(
    "Only one PurgeQueue operation on strict is allowed every 60 seconds.",
  );
  await sqs.send(new DeleteQueueCommand({ QueueUrl }));
  await expect(created("strict")).rejects.toMatchObject({
    name: "QueueDeletedRecently",
    message:
      "You must wait 60 seconds after deleting a queue before you can create another with the same name.",
  });
});

it("a repeated receive of a FIFO queue gets the same messages with the same receipts", async () => {
  const QueueUrl = await created("attempts.fifo", { FifoQueue: "true", ContentBasedDeduplication: "true" });
  for (const body of ["1", "2"]) await send(QueueUrl, body, { MessageGroupId: "g" });
  const first = await receive(QueueUrl, { ReceiveRequestAttemptId: "try" });
  expect(bodies(first)).toEqual(["1", "2"]);
  const again = await receive(QueueUrl, { ReceiveRequestAttemptId: "try" });
  expect(again.map(({ ReceiptHandle }) => ReceiptHandle)).toEqual(
    first.map(({ ReceiptHandle }) => ReceiptHandle),
  );
  expect(await receive(QueueUrl, { ReceiveRequestAttemptId: "another" })).toEqual([]);
});

it("a shorter delay of a FIFO queue wakes its waiting receives", async () => {
  const QueueUrl = await created("delayed.fifo", { FifoQueue: "true", DelaySeconds: "900" });
  await send(QueueUrl, "m", { MessageGroupId: "g", MessageDeduplicationId: "d" });
  const waits = receive(QueueUrl, { WaitTimeSeconds: 20 });
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: { DelaySeconds: "0" } }));
  expect(bodies(await waits)).toEqual(["m"]);
  await expect(
    send(QueueUrl, "m", { MessageGroupId: "g", MessageDeduplicationId: "e", DelaySeconds: 1 }),
  ).rejects.toThrow(
    "Value 1 for parameter DelaySeconds is invalid. Reason: The request include parameter that is not " +
      "valid for this queue type.",
  );
});

it("a tenant that keeps consumers busy lets the others go first, on a standard queue", async () => {
  const QueueUrl = await created("fair");
  for (let i = 0; i < 5; i++) {
    const Entries = Array.from({ length: 10 }, (_, j) => ({
      Id: `${j}`,
      MessageBody: "noisy",
      MessageGroupId: "a",
    }));
    await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
  }
  for (let i = 0; i < 4; i++) expect(await receive(QueueUrl)).toHaveLength(10);
  const sent = await send(QueueUrl, "quiet", { MessageGroupId: "b" });
  expect(sent.SequenceNumber).toBeUndefined();
  const next = await receive(QueueUrl);
  expect(bodies(next)).toEqual(["quiet", ...Array<string>(9).fill("noisy")]);
  expect(next[0]?.Attributes).toMatchObject({ MessageGroupId: "b" });
  expect(next[0]?.Attributes).not.toHaveProperty("SequenceNumber");
});

it("a move task keeps its rate, excludes others, and leaves the rest when it is cancelled", async () => {
  const dead = await created("dead");
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: arnOf("dead"), maxReceiveCount: 1 });
  const source = await created("source", { RedrivePolicy, VisibilityTimeout: "0" });
  // More than the clock moves while this test runs.
  const Entries = Array.from({ length: 10 }, (_, i) => ({ Id: `${i}`, MessageBody: `m${i}` }));
  await sqs.send(new SendMessageBatchCommand({ QueueUrl: source, Entries }));
  await receive(source);
  expect(await receive(source)).toEqual([]);
  const count = async () => {
    const names = ["ApproximateNumberOfMessages" as const];
    const asked = new GetQueueAttributesCommand({ QueueUrl: dead, AttributeNames: names });
    return (await sqs.send(asked)).Attributes?.ApproximateNumberOfMessages;
  };
  await expect.poll(count).toBe("10");
  const SourceArn = arnOf("dead");
  const start = () =>
    sqs.send(new StartMessageMoveTaskCommand({ SourceArn, MaxNumberOfMessagesPerSecond: 1 }));
  const { TaskHandle } = await start();
  await expect(start()).rejects.toThrow("There is already a task running.");
  const list = async () => (await sqs.send(new ListMessageMoveTasksCommand({ SourceArn }))).Results?.[0];
  expect(await list()).toMatchObject({
    TaskHandle,
    Status: "RUNNING",
    ApproximateNumberOfMessagesToMove: 10,
    MaxNumberOfMessagesPerSecond: 1,
  });
  const back = await receive(source, { WaitTimeSeconds: 20, VisibilityTimeout: 600 });
  expect(back[0]?.Body).toBe("m0");
  expect(back[0]?.Attributes).toMatchObject({ ApproximateReceiveCount: "1" });
  expect(back[0]?.Attributes).not.toHaveProperty("DeadLetterQueueSourceArn");
  const cancelled = await sqs.send(new CancelMessageMoveTaskCommand({ TaskHandle }));
  const moved = cancelled.ApproximateNumberOfMessagesMoved ?? 0;
  expect(moved).toBeLessThan(10);
  expect(await list()).toMatchObject({ Status: "CANCELLED" });
  expect(await list()).not.toHaveProperty("TaskHandle");
  expect(await count()).toBe(String(10 - moved));
  await expect(sqs.send(new CancelMessageMoveTaskCommand({ TaskHandle }))).rejects.toThrow(
    "Only active tasks can be cancelled.",
  );
});
