import { describe, expect, it, vi } from "vitest";
import { arnOf, SqsClient } from "../../../../test/sqs-client.ts";

const GONE = new Error('queue "q" does not exist (10104)');
const gone = () => Promise.reject(GONE);
const GONE_REFUSAL = {
  status: 400,
  code: "AWS.SimpleQueueService.NonExistentQueue",
  message: "The specified queue does not exist.",
};

describe("a queue that was deleted meanwhile", () => {
  const objects = {
    receive: gone,
    receiveNow: gone,
    deleteBatch: gone,
    changeVisibilityBatch: gone,
    messageCounts: gone,
    purge: gone,
    enqueue: async () => ({ ok: false as const, code: 10104, cause: "gone" }),
  };

  it.each([
    ["SendMessage", { MessageBody: "x" }],
    ["SendMessageBatch", { Entries: [{ Id: "a", MessageBody: "x" }] }],
    ["ReceiveMessage", { WaitTimeSeconds: 20 }],
    ["DeleteMessage", { ReceiptHandle: "r" }],
    ["DeleteMessageBatch", { Entries: [{ Id: "a", ReceiptHandle: "r" }] }],
    ["ChangeMessageVisibility", { ReceiptHandle: "r", VisibilityTimeout: 0 }],
    ["ChangeMessageVisibilityBatch", { Entries: [{ Id: "a", ReceiptHandle: "r", VisibilityTimeout: 0 }] }],
    ["GetQueueAttributes", { AttributeNames: ["All"] }],
    ["PurgeQueue", {}],
  ])("does not exist for %s", async (action, input) => {
    const sqs = new SqsClient({ objects });
    const QueueUrl = await sqs.create("q");
    expect(await sqs.refusal(action, { QueueUrl, ...input })).toEqual(GONE_REFUSAL);
  });

  it("does not exist for what changes it either", async () => {
    const sqs = new SqsClient();
    for (const [action, input] of [
      ["SetQueueAttributes", { Attributes: { DelaySeconds: "1" } }],
      ["TagQueue", { Tags: { a: "b" } }],
    ] as const) {
      const QueueUrl = await sqs.create("q");
      sqs.account.meanwhile = () => sqs.account.records.clear();
      expect(await sqs.refusal(action, { QueueUrl, ...input })).toEqual(GONE_REFUSAL);
    }
  });
});

describe("the 60 seconds that AWS asks for", () => {
  it("the name of a deleted queue cannot be used again for 60 seconds, as on AWS", async () => {
    const sqs = new SqsClient({ isStrictAboutTime: true });
    await sqs.call("DeleteQueue", { QueueUrl: await sqs.create("q") });
    sqs.account.nowMs += 59_999;
    expect(await sqs.refusal("CreateQueue", { QueueName: "q" })).toEqual({
      status: 400,
      code: "AWS.SimpleQueueService.QueueDeletedRecently",
      message:
        "You must wait 60 seconds after deleting a queue before you can create another with the same name.",
    });
    expect(await sqs.create("other")).toContain("/other");
    sqs.account.nowMs += 1;
    expect(await sqs.create("q")).toContain("/q");
  });

  it("60 seconds lie between two purges of a queue, as on AWS", async () => {
    const sqs = new SqsClient({ isStrictAboutTime: true });
    const QueueUrl = await sqs.create("q");
    await sqs.call("PurgeQueue", { QueueUrl });
    sqs.account.nowMs += 59_999;
    expect(await sqs.refusal("PurgeQueue", { QueueUrl })).toEqual({
      status: 403,
      code: "AWS.SimpleQueueService.PurgeQueueInProgress",
      message: "Only one PurgeQueue operation on q is allowed every 60 seconds.",
    });
    sqs.account.nowMs += 1;
    await sqs.call("PurgeQueue", { QueueUrl });
  });

  it("a second purge is refused while the first one runs", async () => {
    const ended = Promise.withResolvers<{ readonly purged: number }>();
    const purge = vi.fn(() => ended.promise);
    const sqs = new SqsClient({ isStrictAboutTime: true, objects: { purge } });
    const QueueUrl = await sqs.create("q");
    const first = sqs.call("PurgeQueue", { QueueUrl });
    await vi.waitFor(() => expect(purge).toHaveBeenCalled());
    expect(await sqs.refusal("PurgeQueue", { QueueUrl })).toMatchObject({
      code: "AWS.SimpleQueueService.PurgeQueueInProgress",
    });
    ended.resolve({ purged: 1 });
    await first;
  });

  it("purges and names need no 60 seconds where the settings are not strict about time", async () => {
    const sqs = new SqsClient();
    const QueueUrl = await sqs.create("q");
    await sqs.call("PurgeQueue", { QueueUrl });
    await sqs.call("PurgeQueue", { QueueUrl });
    await sqs.call("DeleteQueue", { QueueUrl });
    expect(await sqs.create("q")).toBe(QueueUrl);
  });
});

it("changes that two requests make at once are both made", async () => {
  const sqs = new SqsClient();
  const QueueUrl = await sqs.create("q");
  sqs.account.meanwhile = () => {
    const record = sqs.account.records.get("q");
    if (record !== undefined) sqs.account.put({ ...record, dialects: { sqs: { tags: { theirs: "1" } } } });
  };
  await sqs.call("TagQueue", { QueueUrl, Tags: { ours: "2" } });
  expect((await sqs.call("ListQueueTags", { QueueUrl })).Tags).toEqual({ theirs: "1", ours: "2" });
});

it("a queue has one kind of encryption, also when requests name them one after the other", async () => {
  const sqs = new SqsClient();
  const QueueUrl = await sqs.create("q", { KmsMasterKeyId: "alias/k" });
  const managed = { QueueUrl, Attributes: { SqsManagedSseEnabled: "true" } };
  expect(await sqs.refusal("SetQueueAttributes", managed)).toMatchObject({ code: "InvalidAttributeName" });
  await sqs.call("SetQueueAttributes", {
    QueueUrl,
    Attributes: { KmsMasterKeyId: "", SqsManagedSseEnabled: "true" },
  });
  await sqs.call("SetQueueAttributes", managed);
  const both = { KmsMasterKeyId: "alias/k", SqsManagedSseEnabled: "true" };
  expect(await sqs.refusal("CreateQueue", { QueueName: "q", Attributes: both })).toMatchObject({
    code: "InvalidAttributeName",
  });
});

it("a queue that has two kinds of encryption from an earlier version keeps its key, and can be changed", async () => {
  const sqs = new SqsClient();
  const QueueUrl = await sqs.create("q");
  const record = sqs.account.records.get("q");
  const attributes = { KmsMasterKeyId: "alias/k", SqsManagedSseEnabled: "true" };
  if (record !== undefined) sqs.account.put({ ...record, dialects: { sqs: { attributes } } });
  await sqs.call("SetQueueAttributes", { QueueUrl, Attributes: { VisibilityTimeout: "60" } });
  const shown = await sqs.call("GetQueueAttributes", { QueueUrl, AttributeNames: ["All"] });
  expect(shown.Attributes).toMatchObject({ ...attributes, SqsManagedSseEnabled: "false" });
});

const OTHER_JURISDICTION = { kind: "otherJurisdiction", queue: "q", deadLetterQueue: "dead" } as const;
const ELSEWHERE = {
  status: 400,
  code: "InvalidAttributeValue",
  message: "Dead letters would leave the jurisdiction of their queue.",
};
const SCOPE = { kind: "shardsRefused", reason: "deduplicationScope" } as const;
const NEEDS_SCOPE = {
  status: 400,
  code: "InvalidAttributeValue",
  message: "A FIFO queue with more than one shard needs the deduplication scope messageGroup.",
};

it.each([
  [OTHER_JURISDICTION, ELSEWHERE],
  [SCOPE, NEEDS_SCOPE],
  [{ kind: "queueNotFound" }, GONE_REFUSAL],
] as const)("SetQueueAttributes says why the directory refuses: %j", async (refusal, expected) => {
  const sqs = new SqsClient();
  const QueueUrl = await sqs.create("q");
  sqs.account.refusal = refusal;
  const input = { QueueUrl, Attributes: { DelaySeconds: "1" } };
  expect(await sqs.refusal("SetQueueAttributes", input)).toEqual(expected);
});

describe("CreateQueue", () => {
  it.each([
    [
      { kind: "tooManyQueues" },
      { status: 403, code: "OverLimit", message: "There are as many queues as there can be." },
    ],
    [OTHER_JURISDICTION, ELSEWHERE],
    [SCOPE, NEEDS_SCOPE],
    [
      { kind: "changedMeanwhile" },
      {
        status: 400,
        code: "AWS.SimpleQueueService.QueueDeletedRecently",
        message: "A deleted queue with the same name still has messages, which are being deleted. Try again.",
      },
    ],
  ] as const)("says why the directory refuses: %j", async (refusal, expected) => {
    const sqs = new SqsClient();
    sqs.account.refusal = refusal;
    expect(await sqs.refusal("CreateQueue", { QueueName: "q" })).toEqual(expected);
  });

  it("answers with the queue there is if what is asked for is what it has", async () => {
    const sqs = new SqsClient();
    const url = await sqs.create("q", { VisibilityTimeout: "5", Policy: '{"a":1}' });
    expect(await sqs.create("q")).toBe(url);
    expect(await sqs.create("q", { VisibilityTimeout: "5", Policy: '{"a":1}', DelaySeconds: "0" })).toBe(url);
    for (const [name, value] of [
      ["VisibilityTimeout", "6"],
      ["DelaySeconds", "1"],
      ["Policy", '{"a":2}'],
      ["MaximumMessageSize", "1024"],
    ] as const) {
      expect(await sqs.refusal("CreateQueue", { QueueName: "q", Attributes: { [name]: value } })).toEqual({
        status: 400,
        code: "QueueAlreadyExists",
        message: `A queue already exists with the same name and a different value for attribute ${name}`,
      });
    }
    const isDefault = { KmsMasterKeyId: "alias/k", KmsDataKeyReusePeriodSeconds: "300" };
    expect(await sqs.create("secret", isDefault)).toBe(await sqs.create("secret", isDefault));
    await sqs.call("SetQueueAttributes", { QueueUrl: url, Attributes: { VisibilityTimeout: "6" } });
    expect(await sqs.create("q", { VisibilityTimeout: "6" })).toBe(url);
  });

  it.each([
    ["", "Value for parameter QueueName is invalid. Reason: Must specify a queue name."],
    ["a b", "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length"],
    ["a.b", "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length"],
    ["q.fifo", "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length"],
    ["q".repeat(81), "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length"],
  ])("refuses the name %j", async (QueueName, text) => {
    expect(await new SqsClient().refusalText("CreateQueue", { QueueName })).toBe(text);
  });

  it("takes names of 80 characters, `.fifo` included", async () => {
    const sqs = new SqsClient();
    expect(await sqs.create("Q_-0".repeat(20))).toContain("Q_-0");
    const fifo = `${"q".repeat(75)}.fifo`;
    expect(await sqs.create(fifo, { FifoQueue: "True" })).toContain(fifo);
    expect(
      await sqs.refusalText("CreateQueue", { QueueName: `q${fifo}`, Attributes: { FifoQueue: "true" } }),
    ).toBe(
      "The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, must " +
        "end with .fifo " +
        "suffix and be 1 to 80 in length",
    );
  });
});

it.each(["ListQueues", "ListDeadLetterSourceQueues"])(
  "pages of queues of %s have AWS's limits and texts",
  async (action) => {
    const sqs = new SqsClient();
    const QueueUrl = await sqs.create("dead");
    for (const MaxResults of [0, 1_001]) {
      expect(await sqs.refusalText(action, { QueueUrl, MaxResults })).toBe(
        "Value for parameter MaxResults is invalid. Reason: MaxResults must be an integer between 1 and 1000.",
      );
    }
    for (const MaxResults of [1, 1_000]) await sqs.call(action, { QueueUrl, MaxResults });
    expect(await sqs.refusalText(action, { QueueUrl, NextToken: "nonsense" })).toBe(
      "Invalid or expired next token.",
    );
  },
);

it("pages of queues of a dead-letter queue's sources go on with a token", async () => {
  const sqs = new SqsClient();
  const QueueUrl = await sqs.create("dead");
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: arnOf("dead"), maxReceiveCount: 1 });
  const sources = [await sqs.create("a", { RedrivePolicy }), await sqs.create("b", { RedrivePolicy })];
  await sqs.create("c");
  const first = await sqs.call("ListDeadLetterSourceQueues", { QueueUrl, MaxResults: 1 });
  expect(first.queueUrls).toEqual([sources[0]]);
  const { NextToken } = first;
  expect(await sqs.call("ListDeadLetterSourceQueues", { QueueUrl, MaxResults: 1, NextToken })).toEqual({
    queueUrls: [sources[1]],
  });
  expect(await sqs.call("ListDeadLetterSourceQueues", { QueueUrl: sources[0] })).toEqual({});
});
