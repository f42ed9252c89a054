import {
  DeleteTopicCommand,
  PublishBatchCommand,
  PublishCommand,
  SetSubscriptionAttributesCommand,
  UnsubscribeCommand,
} from "@aws-sdk/client-sns";
import { DeleteQueueCommand, ListQueuesCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { beforeAll, expect, it } from "vitest";
import {
  endpoint,
  envelopeIn,
  queue,
  received,
  refusal,
  sns,
  sqs,
  start,
  subscribed,
  topic,
} from "./sns-sdk.ts";

beforeAll(start);

it("a message published to queues with the AWS SDK has the trace header of its request", async () => {
  const TopicArn = await topic("traced");
  const [plain, raw] = [await queue("traced-plain"), await queue("traced-raw")];
  await subscribed(TopicArn, plain.arn);
  await subscribed(TopicArn, raw.arn, { RawMessageDelivery: "true" });
  const traceHeader = "Root=1-5759e988-bd862e3fe1be46a994272793";
  const command = new PublishCommand({ TopicArn, Message: "m" });
  command.middlewareStack.add(
    (next) => (args) => {
      (args.request as { headers: Record<string, string> }).headers["x-amzn-trace-id"] = traceHeader;
      return next(args);
    },
    { step: "build" },
  );
  await sns.send(command);
  for (const { url: QueueUrl } of [plain, raw]) {
    const { Messages } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl,
        WaitTimeSeconds: 5,
        MessageSystemAttributeNames: ["AWSTraceHeader"],
      }),
    );
    expect(Messages?.[0]?.Attributes).toEqual({ AWSTraceHeader: traceHeader });
  }
});

it("a message published to queues with the AWS SDK reaches every subscription that wants it: enveloped or raw, filtered, with its protocol's text", async () => {
  const TopicArn = await topic("news");
  const [plain, raw, filtered] = [await queue("plain"), await queue("raw"), await queue("filtered")];
  const SubscriptionArn = await subscribed(TopicArn, plain.arn);
  await subscribed(TopicArn, raw.arn, { RawMessageDelivery: "true" });
  const FilterPolicy = JSON.stringify({ kind: ["b"] });
  await subscribed(TopicArn, filtered.arn, { FilterPolicy });
  const MessageAttributes = {
    kind: { DataType: "String", StringValue: "a" },
    bytes: { DataType: "Binary", BinaryValue: Uint8Array.of(0, 255) },
  };
  const first = { TopicArn, Message: 'first "ü" 😀', Subject: "Größe 😀", MessageAttributes };
  const { MessageId } = await sns.send(new PublishCommand(first));
  const [enveloped] = await received(plain.url, 1);
  expect(enveloped?.MessageAttributes).toBeUndefined();
  expect(envelopeIn(enveloped?.Body)).toEqual({
    Type: "Notification",
    MessageId,
    TopicArn,
    Subject: "Größe 😀",
    Message: 'first "ü" 😀',
    Timestamp: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    SignatureVersion: "1",
    Signature: expect.any(String),
    SigningCertURL: expect.stringMatching(`^${endpoint}/SimpleNotificationService-[0-9a-f]{32}\\.pem$`),
    UnsubscribeURL: `${endpoint}/?Action=Unsubscribe&SubscriptionArn=${SubscriptionArn}`,
    MessageAttributes: { kind: { Type: "String", Value: "a" }, bytes: { Type: "Binary", Value: "AP8=" } },
  });
  const certificate = await fetch(String(envelopeIn(enveloped?.Body).SigningCertURL));
  expect(await certificate.text()).toMatch(/^-----BEGIN CERTIFICATE-----/);
  expect((await fetch(`${endpoint}/SimpleNotificationService-0.pem`)).status).toBe(404);
  expect(await received(raw.url, 1)).toMatchObject([
    {
      Body: 'first "ü" 😀',
      MessageAttributes: {
        kind: { DataType: "String", StringValue: "a" },
        bytes: { DataType: "Binary", BinaryValue: Uint8Array.of(0, 255) },
      },
    },
  ]);
  const { Successful, Failed } = await sns.send(
    new PublishBatchCommand({
      TopicArn,
      PublishBatchRequestEntries: [
        { Id: "1", Message: "not for the filter" },
        {
          Id: "2",
          Message: JSON.stringify({ default: "for all", sqs: "for queues", email: "for mail" }),
          MessageStructure: "json",
          MessageAttributes: { kind: { DataType: "String", StringValue: "b" } },
        },
      ],
    }),
  );
  expect([Successful?.map(({ Id }) => Id), Failed]).toEqual([["1", "2"], []]);
  const messages = (await received(filtered.url, 1)).map(({ Body }) => envelopeIn(Body));
  expect(messages).toMatchObject([{ Message: "for queues", MessageId: Successful?.[1]?.MessageId }]);
  expect((await received(raw.url, 2)).map(({ Body }) => Body).sort()).toEqual([
    "for queues",
    "not for the filter",
  ]);
  expect(await refusal(sns.send(new PublishCommand({ TopicArn, Message: "x".repeat(262_145) })))).toEqual({
    name: "InvalidParameterException",
    status: 400,
    message: "Invalid parameter: Message too long",
  });
  await sns.send(new UnsubscribeCommand({ SubscriptionArn }));
  await sns.send(new PublishCommand({ TopicArn, Message: "x".repeat(262_144) }));
  expect((await received(raw.url, 1))[0]?.Body).toHaveLength(262_144);
  const left = new ReceiveMessageCommand({ QueueUrl: plain.url, MaxNumberOfMessages: 10 });
  expect((await sqs.send(left)).Messages?.map(({ Body }) => envelopeIn(Body).Message).sort()).toEqual([
    "for queues",
    "not for the filter",
  ]);
});

it("a message published to queues with the AWS SDK follows every acknowledged change of the topic, although the topic is cached", async () => {
  const TopicArn = await topic("changing");
  const [steady, other] = [await queue("changing-steady"), await queue("changing-other")];
  await subscribed(TopicArn, steady.arn, { RawMessageDelivery: "true" });
  const publish = (Message: string) => sns.send(new PublishCommand({ TopicArn, Message }));
  const expected: string[] = [];
  for (let i = 0; i < 5; i++) {
    await publish(`${i} before`);
    const SubscriptionArn = await subscribed(TopicArn, other.arn, { RawMessageDelivery: "true" });
    await publish(`${i} subscribed`);
    const change = { SubscriptionArn, AttributeName: "FilterPolicy", AttributeValue: '{"a":["b"]}' };
    await sns.send(new SetSubscriptionAttributesCommand(change));
    await publish(`${i} filtered`);
    await sns.send(new SetSubscriptionAttributesCommand({ ...change, AttributeValue: "" }));
    await publish(`${i} again`);
    await sns.send(new UnsubscribeCommand({ SubscriptionArn }));
    await publish(`${i} unsubscribed`);
    expected.push(`${i} subscribed`, `${i} again`);
  }
  expect((await received(steady.url, 25)).length).toBe(25);
  expect((await received(other.url, 10)).map(({ Body }) => Body).sort()).toEqual(expected.sort());
  const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl: other.url }));
  expect(Messages).toBeUndefined();
  await sns.send(new DeleteTopicCommand({ TopicArn }));
  expect(await refusal(publish("missing"))).toMatchObject({ status: 404 });
});

it("a message published to queues with the AWS SDK keeps order and numbers of a FIFO topic, and drops duplicates", async () => {
  const TopicArn = await topic("news.fifo", { FifoTopic: "true", ContentBasedDeduplication: "true" });
  const fifo = await queue("first.fifo", { FifoQueue: "true" });
  const standard = await queue("second");
  await subscribed(TopicArn, fifo.arn);
  await subscribed(TopicArn, standard.arn, { RawMessageDelivery: "true" });
  const send = (Message: string) => sns.send(new PublishCommand({ TopicArn, Message, MessageGroupId: "g" }));
  const answers = [];
  for (const text of ["a", "b", "a", "c"]) answers.push(await send(text));
  expect(answers[2]).toMatchObject({
    MessageId: answers[0]?.MessageId,
    SequenceNumber: answers[0]?.SequenceNumber,
  });
  const messages = await received(fifo.url, 3);
  expect(messages.map(({ Body }) => envelopeIn(Body).Message)).toEqual(["a", "b", "c"]);
  const numbers = [answers[0], answers[1], answers[3]].map((answer) => answer?.SequenceNumber);
  expect(messages.map(({ Body }) => envelopeIn(Body).SequenceNumber)).toEqual(numbers);
  expect(numbers).toEqual([...numbers].sort());
  expect(messages[0]?.Attributes).toMatchObject({
    MessageGroupId: "g",
    MessageDeduplicationId: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(envelopeIn(messages[0]?.Body)).not.toHaveProperty("Signature");
  expect((await received(standard.url, 3))[0]?.Attributes).not.toHaveProperty("MessageGroupId");
  const Message = "x";
  expect(await refusal(sns.send(new PublishCommand({ TopicArn, Message })))).toMatchObject({
    message: "Invalid parameter: The MessageGroupId parameter is required for FIFO topics",
  });
});

it("a message published to queues with the AWS SDK goes to the subscription's dead-letter queue where its queue was deleted, and to all other queues", async () => {
  const TopicArn = await topic("partly");
  const [gone, kept, dead] = [await queue("gone"), await queue("kept"), await queue("dead")];
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dead.arn });
  await subscribed(TopicArn, gone.arn, { RedrivePolicy, RawMessageDelivery: "true" });
  await subscribed(TopicArn, kept.arn, { RawMessageDelivery: "true" });
  await sqs.send(new DeleteQueueCommand({ QueueUrl: gone.url }));
  await sns.send(new PublishCommand({ TopicArn, Message: "hello" }));
  expect(await received(kept.url, 1)).toMatchObject([{ Body: "hello" }]);
  expect(await received(dead.url, 1)).toMatchObject([{ Body: "hello" }]);
  const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand({ QueueNamePrefix: "gone" }));
  expect(QueueUrls).toEqual([]);
});
