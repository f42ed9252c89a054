import {
  CancelMessageMoveTaskCommand,
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ListDeadLetterSourceQueuesCommand,
  ListMessageMoveTasksCommand,
  PurgeQueueCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";
import { beforeAll, describe, expect, it } from "vitest";
import { arnOf, created, receive, refusal, sqs, start } from "./sqs-sdk.ts";

beforeAll(start);

describe("messages, with the AWS SDK", () => {
  it("are sent with attributes, received and deleted", async () => {
    const QueueUrl = await created("messages");
    const sent = await sqs.send(
      new SendMessageCommand({
        QueueUrl,
        MessageBody: "héllo",
        MessageAttributes: {
          Name: { DataType: "String", StringValue: "x" },
          Bytes: { DataType: "Binary.png", BinaryValue: Uint8Array.of(0, 255) },
        },
        MessageSystemAttributes: { AWSTraceHeader: { DataType: "String", StringValue: "Root=1-a" } },
      }),
    );
    expect(sent.MessageId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const [message] = await receive(QueueUrl, { MessageAttributeNames: ["All"] });
    expect(message).toMatchObject({
      MessageId: sent.MessageId,
      Body: "héllo",
      MD5OfBody: sent.MD5OfMessageBody,
      MD5OfMessageAttributes: sent.MD5OfMessageAttributes,
      MessageAttributes: {
        Name: { DataType: "String", StringValue: "x" },
        Bytes: { DataType: "Binary.png", BinaryValue: Uint8Array.of(0, 255) },
      },
      Attributes: {
        SenderId: "000000000000",
        SentTimestamp: expect.stringMatching(/^\d{13}$/),
        ApproximateReceiveCount: "1",
        ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
        AWSTraceHeader: "Root=1-a",
      },
    });
    expect(await receive(QueueUrl)).toEqual([]);
    const counts = new GetQueueAttributesCommand({
      QueueUrl,
      AttributeNames: ["ApproximateNumberOfMessagesNotVisible"],
    });
    expect((await sqs.send(counts)).Attributes).toEqual({ ApproximateNumberOfMessagesNotVisible: "1" });
    const ReceiptHandle = message?.ReceiptHandle ?? "";
    await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    expect((await sqs.send(counts)).Attributes).toEqual({ ApproximateNumberOfMessagesNotVisible: "0" });
    expect(
      await refusal(sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: "garbage" }))),
    ).toMatchObject({
      name: "ReceiptHandleIsInvalid",
      status: 404,
      message: 'The input receipt handle "garbage" is not a valid receipt handle.',
    });
  });

  it("are invisible for the time of a receive or a change", async () => {
    const QueueUrl = await created("visibility");
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "a" }));
    const [first] = await receive(QueueUrl, { VisibilityTimeout: 600 });
    const ReceiptHandle = first?.ReceiptHandle ?? "";
    const change = (VisibilityTimeout: number) =>
      sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout }));
    expect(await receive(QueueUrl)).toEqual([]);
    await change(0);
    const [again] = await receive(QueueUrl);
    expect(again?.Attributes?.ApproximateReceiveCount).toBe("2");
    expect(again?.ReceiptHandle).not.toBe(ReceiptHandle);
    expect(await refusal(change(43_201))).toMatchObject({
      message: "Value 43201 for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and 43200.",
    });
    expect(await refusal(change(43_200))).toMatchObject({
      message:
        "Value 43200 for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout for the message is " +
        "beyond the limit [43200 seconds].",
    });
  });

  it("wake a waiting receive", async () => {
    const QueueUrl = await created("waiting");
    const waiting = receive(QueueUrl, { WaitTimeSeconds: 20 });
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "now" }));
    expect((await waiting).map(({ Body }) => Body)).toEqual(["now"]);
  });

  it("are sent, deleted and changed in batches, with an outcome for each", async () => {
    const QueueUrl = await created("batches", { MaximumMessageSize: "1024" });
    const sent = await sqs.send(
      new SendMessageBatchCommand({
        QueueUrl,
        Entries: [
          { Id: "a", MessageBody: "1" },
          { Id: "large", MessageBody: "x".repeat(1_025) },
          { Id: "b", MessageBody: "2" },
        ],
      }),
    );
    expect(sent.Successful?.map(({ Id }) => Id)).toEqual(["a", "b"]);
    expect(sent.Failed).toEqual([
      {
        Id: "large",
        SenderFault: true,
        Code: "InvalidParameterValue",
        Message:
          "One or more parameters cannot be validated. Reason: Message must be shorter than 1024 bytes.",
      },
    ]);
    const received = await receive(QueueUrl);
    const [one, two] = received.map(({ ReceiptHandle = "" }) => ReceiptHandle);
    const changed = await sqs.send(
      new ChangeMessageVisibilityBatchCommand({
        QueueUrl,
        Entries: [
          { Id: "a", ReceiptHandle: one, VisibilityTimeout: 100 },
          { Id: "b", ReceiptHandle: two, VisibilityTimeout: -85 },
        ],
      }),
    );
    expect(changed.Successful).toEqual([{ Id: "a" }]);
    expect(changed.Failed).toMatchObject([{ Id: "b", Code: "InvalidParameterValue", SenderFault: true }]);
    const deleted = await sqs.send(
      new DeleteMessageBatchCommand({
        QueueUrl,
        Entries: [
          { Id: "a", ReceiptHandle: one },
          { Id: "b", ReceiptHandle: "garbage" },
        ],
      }),
    );
    expect(deleted.Successful).toEqual([{ Id: "a" }]);
    expect(deleted.Failed).toMatchObject([{ Id: "b", Code: "ReceiptHandleIsInvalid", SenderFault: true }]);
    const entries = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ Id: `${i}`, MessageBody: "x" }));
    const batch = (Entries: { Id: string; MessageBody: string }[]) =>
      refusal(sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries })));
    expect(await batch(entries(11))).toMatchObject({
      name: "TooManyEntriesInBatchRequest",
      message: "Maximum number of entries per request are 10. You have sent 11.",
    });
    expect(await batch([])).toMatchObject({ name: "EmptyBatchRequest" });
    expect(await batch([...entries(1), ...entries(1)])).toMatchObject({
      name: "BatchEntryIdsNotDistinct",
      message: "Id 0 repeated.",
    });
  });

  it("of AWS's largest size are accepted, with any attributes", async () => {
    const QueueUrl = await created("large");
    const send = (input: object) =>
      sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "x", ...input }));
    const most = 1_048_576;
    const named = (value: object) => ({ MessageAttributes: { n: value } });
    const bytes = { DataType: "Binary", BinaryValue: new Uint8Array(most - 8) };
    const text = { DataType: "String", StringValue: '"'.repeat(most - 8) };
    for (const input of [named(bytes), named(text), { MessageBody: "x".repeat(most), MessageGroupId: "g" }]) {
      await send(input);
      const [message] = await receive(QueueUrl, { MessageAttributeNames: ["All"], VisibilityTimeout: 600 });
      expect(message).toMatchObject("MessageBody" in input ? { Body: input.MessageBody } : input);
    }
    for (const input of [{ MessageBody: "x".repeat(most + 1) }, { ...named(text), MessageBody: "xy" }]) {
      expect(await refusal(send(input))).toMatchObject({
        message: `One or more parameters are invalid. Reason: Message must be shorter than ${most} bytes.`,
      });
    }
    const fifo = await created("large.fifo", { FifoQueue: "true" });
    await send({
      QueueUrl: fifo,
      MessageBody: "x".repeat(most),
      MessageGroupId: "g".repeat(128),
      MessageDeduplicationId: "d".repeat(128),
    });
    expect(await receive(fifo)).toMatchObject([{ Body: "x".repeat(most) }]);
    const Entries = Array.from({ length: 10 }, (_, i) => ({ Id: `${i}`, MessageBody: "x".repeat(104_857) }));
    const sent = await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    expect(sent.Successful).toHaveLength(10);
    const tooLong = [...Entries.slice(1), { Id: "last", MessageBody: "x".repeat(104_864) }];
    expect(
      await refusal(sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries: tooLong }))),
    ).toMatchObject({
      name: "BatchRequestTooLong",
      message: "Batch requests cannot be longer than 1048576 bytes. You have sent 1048577 bytes.",
    });
  });

  it("are purged", async () => {
    const QueueUrl = await created("purged");
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "a" }));
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "b", DelaySeconds: 900 }));
    await sqs.send(new PurgeQueueCommand({ QueueUrl }));
    const all = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] });
    expect((await sqs.send(all)).Attributes).toMatchObject({
      ApproximateNumberOfMessages: "0",
      ApproximateNumberOfMessagesDelayed: "0",
    });
  });
});

describe("FIFO queues, with the AWS SDK", () => {
  it("keep the order of a group, and drop duplicates", async () => {
    const QueueUrl = await created("orders.fifo", { FifoQueue: "true", ContentBasedDeduplication: "true" });
    const send = (MessageBody: string, MessageGroupId: string) =>
      sqs.send(new SendMessageCommand({ QueueUrl, MessageBody, MessageGroupId }));
    const first = await send("a1", "a");
    await send("a2", "a");
    await send("b1", "b");
    const again = await send("a1", "a");
    expect([again.MessageId, again.SequenceNumber]).toEqual([first.MessageId, first.SequenceNumber]);
    const [one, ...others] = await receive(QueueUrl, { MaxNumberOfMessages: 1 });
    expect([one?.Body, others]).toEqual(["a1", []]);
    expect(one?.Attributes).toMatchObject({ MessageGroupId: "a", SequenceNumber: first.SequenceNumber });
    expect((await receive(QueueUrl)).map(({ Body }) => Body)).toEqual(["b1"]);
    await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: one?.ReceiptHandle }));
    expect((await receive(QueueUrl)).map(({ Body }) => Body)).toEqual(["a2"]);
  });

  it("refuse invalid messages in AWS's words", async () => {
    const QueueUrl = await created("strict.fifo", { FifoQueue: "true" });
    const send = (input: object) =>
      refusal(sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "x", ...input })));
    expect(await send({})).toMatchObject({
      message: "The request must contain the parameter MessageGroupId.",
    });
    expect(await send({ MessageGroupId: "g" })).toMatchObject({
      message:
        "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly",
    });
    expect(await send({ MessageGroupId: "g g", MessageDeduplicationId: "d" })).toMatchObject({
      message:
        "Value g g for parameter MessageGroupId is invalid. Reason: MessageGroupId can only include alphanumeric and " +
        "punctuation characters. 1 to 128 in length.",
    });
    expect(await refusal(created("no-suffix", { FifoQueue: "true" }))).toMatchObject({
      message: expect.stringContaining("must end with .fifo suffix"),
    });
  });
});

it("dead-letter queues, with the AWS SDK take messages that were received too often, and give them back", async () => {
  const dead = await created("dead");
  const deadArn = await arnOf(dead);
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: deadArn, maxReceiveCount: 1 });
  const QueueUrl = await created("source", { RedrivePolicy });
  expect(await sqs.send(new ListDeadLetterSourceQueuesCommand({ QueueUrl: dead }))).toMatchObject({
    queueUrls: [QueueUrl],
  });
  const { MessageId } = await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "poison" }));
  expect(await receive(QueueUrl, { VisibilityTimeout: 0 })).toHaveLength(1);
  expect(await receive(QueueUrl)).toEqual([]);
  const [message] = await receive(dead, { WaitTimeSeconds: 20, VisibilityTimeout: 0 });
  expect(message).toMatchObject({
    MessageId,
    Body: "poison",
    Attributes: { DeadLetterQueueSourceArn: await arnOf(QueueUrl), ApproximateReceiveCount: "2" },
  });
  const task = await sqs.send(new StartMessageMoveTaskCommand({ SourceArn: deadArn }));
  expect(JSON.parse(atob(task.TaskHandle ?? ""))).toMatchObject({ sourceArn: deadArn });
  const [back] = await receive(QueueUrl, { WaitTimeSeconds: 20 });
  expect(back?.Body).toBe("poison");
  const { Results = [] } = await sqs.send(new ListMessageMoveTasksCommand({ SourceArn: deadArn }));
  expect(Results).toMatchObject([{ SourceArn: deadArn, ApproximateNumberOfMessagesToMove: 1 }]);
  const cancel = new CancelMessageMoveTaskCommand({ TaskHandle: "nonsense" });
  expect(await refusal(sqs.send(cancel))).toMatchObject({
    message: "Value for parameter TaskHandle is invalid.",
  });
  expect(
    await refusal(sqs.send(new StartMessageMoveTaskCommand({ SourceArn: await arnOf(QueueUrl) }))),
  ).toMatchObject({ message: "Source queue must be configured as a Dead Letter Queue." });
});
