import { beforeEach, describe, expect, it } from "vitest";
import { DEAD, recordOf } from "../../../../test/directory.ts";
import { arnOf, SqsClient } from "../../../../test/sqs-client.ts";

let sqs: SqsClient;

beforeEach(() => {
  sqs = new SqsClient();
});

const set = (QueueUrl: string, Attributes: Record<string, string>) =>
  sqs.call("SetQueueAttributes", { QueueUrl, Attributes });
const invalidName = (message: string) => ({ status: 400, code: "InvalidAttributeName", message });

describe("GetQueueAttributes", () => {
  it("shows all of a fresh FIFO queue", async () => {
    expect(await sqs.attributes(await sqs.create("q.fifo", { FifoQueue: "true" }))).toEqual({
      ApproximateNumberOfMessages: "0",
      ApproximateNumberOfMessagesDelayed: "0",
      ApproximateNumberOfMessagesNotVisible: "0",
      ContentBasedDeduplication: "false",
      CreatedTimestamp: expect.stringMatching(/^\d{10}$/),
      DeduplicationScope: "queue",
      DelaySeconds: "0",
      FifoQueue: "true",
      FifoThroughputLimit: "perQueue",
      LastModifiedTimestamp: expect.stringMatching(/^\d{10}$/),
      MaximumMessageSize: "1048576",
      MessageRetentionPeriod: "345600",
      QueueArn: arnOf("q.fifo"),
      ReceiveMessageWaitTimeSeconds: "0",
      SqsManagedSseEnabled: "true",
      VisibilityTimeout: "30",
    });
  });

  it("shows what is asked for and has a value, and nothing when nothing is asked for", async () => {
    const QueueUrl = await sqs.create("q");
    expect(await sqs.attributes(QueueUrl, "QueueArn", "Policy", "FifoQueue")).toEqual({
      QueueArn: arnOf("q"),
    });
    expect(await sqs.call("GetQueueAttributes", { QueueUrl })).toEqual({});
  });

  it.each(["Nonsense", "", "queueArn", "constructor"])("does not know %j", async (name) => {
    const QueueUrl = await sqs.create("q");
    expect(await sqs.refusal("GetQueueAttributes", { QueueUrl, AttributeNames: ["All", name] })).toEqual(
      invalidName(`Unknown Attribute ${name}.`),
    );
  });

  it("shows a delay that only Cloudflare's API can set", async () => {
    sqs.account.put(recordOf("q", { ...DEAD, deliveryDelaySeconds: 86_400 }));
    const { QueueUrl } = await sqs.call("GetQueueUrl", { QueueName: "q" });
    expect(await sqs.attributes(String(QueueUrl), "DelaySeconds")).toEqual({ DelaySeconds: "86400" });
  });
});

it("encryption is one kind at a time; the managed one stays off when the other is taken away", async () => {
  const QueueUrl = await sqs.create("q", { KmsMasterKeyId: "alias/k", KmsDataKeyReusePeriodSeconds: "60" });
  const shown = () =>
    sqs.attributes(QueueUrl, "KmsMasterKeyId", "KmsDataKeyReusePeriodSeconds", "SqsManagedSseEnabled");
  expect(await shown()).toEqual({
    KmsMasterKeyId: "alias/k",
    KmsDataKeyReusePeriodSeconds: "60",
    SqsManagedSseEnabled: "false",
  });
  await set(QueueUrl, { KmsMasterKeyId: "", KmsDataKeyReusePeriodSeconds: "300" });
  expect(await shown()).toEqual({ SqsManagedSseEnabled: "false" });
});

describe("attributes of FIFO queues", () => {
  const perGroup = { FifoThroughputLimit: "perMessageGroupId" };
  const refused = {
    status: 400,
    code: "InvalidAttributeValue",
    message:
      "Invalid value for the parameter FifoThroughputLimit. Reason: To set FifoThroughputLimit to perMessageGroupId, " +
      "the DeduplicationScope must be messageGroup.",
  };

  it("attributes of FIFO queues give each group its throughput only with a scope of groups", async () => {
    expect(
      await sqs.refusal("CreateQueue", {
        QueueName: "q.fifo",
        Attributes: { FifoQueue: "true", ...perGroup },
      }),
    ).toEqual(refused);
    const scope = { DeduplicationScope: "messageGroup" };
    const QueueUrl = await sqs.create("q.fifo", { FifoQueue: "true", ...scope });
    await set(QueueUrl, perGroup);
    expect(
      await sqs.refusal("SetQueueAttributes", { QueueUrl, Attributes: { DeduplicationScope: "queue" } }),
    ).toEqual(refused);
    await set(QueueUrl, { DeduplicationScope: "queue", FifoThroughputLimit: "perQueue" });
    expect(await sqs.attributes(QueueUrl, "DeduplicationScope", "FifoThroughputLimit")).toEqual({
      DeduplicationScope: "queue",
      FifoThroughputLimit: "perQueue",
    });
    // It is shown, and has no effect: the queue tells duplicates as it did when it was created.
    expect(sqs.account.records.get("q.fifo")?.definition.fifo?.deduplicationScope).toBe("messageGroup");
  });

  it("attributes of FIFO queues go by the scope that a configuration has said", async () => {
    sqs.account.put(recordOf("q.fifo", { ...DEAD, fifo: { deduplicationScope: "messageGroup" } }));
    const { QueueUrl } = await sqs.call("GetQueueUrl", { QueueName: "q.fifo" });
    await set(String(QueueUrl), perGroup);
    expect(await sqs.attributes(String(QueueUrl))).toMatchObject({
      ...perGroup,
      DeduplicationScope: "messageGroup",
    });
  });

  it("attributes of FIFO queues are unknown to standard queues, and FifoQueue never changes", async () => {
    const QueueUrl = await sqs.create("q");
    for (const value of ["true", "false"]) {
      expect(await sqs.refusal("SetQueueAttributes", { QueueUrl, Attributes: { FifoQueue: value } })).toEqual(
        invalidName("Unknown Attribute FifoQueue."),
      );
    }
    const fifo = await sqs.create("q.fifo", { FifoQueue: "true" });
    await set(fifo, { FifoQueue: "true" });
    expect(
      await sqs.refusal("SetQueueAttributes", { QueueUrl: fifo, Attributes: { FifoQueue: "false" } }),
    ).toEqual({
      status: 400,
      code: "InvalidAttributeValue",
      message: "Invalid value for the parameter FifoQueue. Reason: Modifying queue type is not supported.",
    });
  });
});
