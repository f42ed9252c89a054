import { PackedIndex, PUBLISH_BYTES_MAX, RECORD_HEADER_BYTES } from "@sluice/protocol";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ENDPOINT, textOf, textsIn } from "../../../../test/sns-client.ts";
import {
  ARN,
  attribute,
  attributes,
  copyFor,
  extensionOf,
  FIFO_ARN,
  invalid,
  type Parameters,
  publish,
  RAW,
  refusal,
  sns,
  startOver,
  subscribe,
} from "../../../../test/sns-publisher.ts";
import { TRACE_HEADER_LENGTH_MAX } from "../../trace-header.ts";
import { BATCH_ENTRIES_MAX } from "./batch.ts";
import { SQS_ATTRIBUTES_MAX } from "./copies.ts";

beforeEach(startOver);

describe("what is published to a standard topic", () => {
  it("is in an envelope, or raw with its attributes, with an id of its own in each queue", async () => {
    const arn = await subscribe("mail");
    await subscribe("raw", RAW);
    const messageId = await publish("hello", { Subject: "S", ...attribute(1, "a", "String") });
    expect(JSON.parse(sns.copies().mail ?? "")).toMatchObject({
      Type: "Notification",
      MessageId: messageId,
      Subject: "S",
      Message: "hello",
      UnsubscribeURL: `${ENDPOINT}/?Action=Unsubscribe&SubscriptionArn=${arn}`,
      MessageAttributes: { a: { Type: "String", Value: "v" } },
    });
    expect(sns.copies().raw).toBe("hello");
    const copies = sns.published[0]?.messages[0]?.copies ?? [];
    const ids = copies.map(({ packed }) => new PackedIndex(packed).id(0));
    expect(new Set([...ids, messageId.replaceAll("-", "")]).size).toBe(3);
    expect(extensionOf(copyFor("mail").packed).attributes).toEqual({});
    expect(extensionOf(copyFor("raw").packed).attributes).toEqual({
      a: { DataType: "String", StringValue: "v" },
    });
  });

  it("has a subject of any characters but control characters", async () => {
    await subscribe("mail");
    const Subject = " Bestellung für 注文 \u00a0😀";
    await publish("hello", { Subject });
    expect(JSON.parse(sns.copies().mail ?? "")).toMatchObject({ Subject });
  });

  it("reaches a URL once it is confirmed, with its own id and what its headers will say", async () => {
    const hook = {
      TopicArn: ARN,
      Protocol: "http",
      Endpoint: "http://localhost:9/",
      ReturnSubscriptionArn: "true",
    };
    const subscriptionArn = await sns.call("Subscribe", hook, "SubscriptionArn");
    await publish("too early");
    expect(sns.published).toEqual([]);
    const { Token } = JSON.parse(sns.enqueued.at(-1)?.body ?? "") as { Token: string };
    await sns.call("ConfirmSubscription", { TopicArn: ARN, Token });
    const messageId = await publish("now");
    const [copy] = sns.published[0]?.messages[0]?.copies ?? [];
    if (copy === undefined) throw new Error("nothing was published");
    expect(new PackedIndex(copy.packed).id(0)).toBe(messageId.replaceAll("-", ""));
    expect(extensionOf(copy.packed).notification).toEqual({
      type: "Notification",
      topicArn: ARN,
      subscriptionArn,
      isRaw: false,
    });
  });

  it("passes filter policies by its attributes or by its body, and each protocol has its text", async () => {
    await subscribe("by-attribute", { ...RAW, FilterPolicy: '{"a":["v"]}' });
    const FilterPolicyScope = "MessageBody";
    await subscribe("by-body", { ...RAW, FilterPolicy: '{"kind":["x"]}', FilterPolicyScope });
    await publish('{"kind":"x"}');
    expect(Object.keys(sns.copies())).toEqual(["by-body"]);
    const Message = JSON.stringify({ default: '{"kind":"x"}', sqs: '{"kind":"y"}' });
    await publish(Message, { MessageStructure: "json", ...attribute(1, "a", "String") });
    expect(sns.copies()).toEqual({ "by-attribute": '{"kind":"y"}' });
  });

  it("reaches all others where a filter policy is kept that cannot be evaluated, and says of which", async () => {
    const log = vi.spyOn(console, "warn").mockImplementation(() => {});
    const RedrivePolicy = '{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead"}';
    const bad = [await subscribe("bad", { ...RAW, RedrivePolicy }), await subscribe("worse", RAW)];
    await subscribe("good", { ...RAW, FilterPolicy: '{"a":["v"]}' });
    await subscribe("other", { ...RAW, FilterPolicy: '{"a":["w"]}' });
    for (const arn of bad) {
      const kept = await sns.topics.rpc.findTopicSubscription(arn);
      if (kept === null) throw new Error("there is no such subscription");
      const { revision, deadLetterQueue } = kept;
      const attributes = { ...kept.attributes, FilterPolicy: `{"${"a.".repeat(2_000)}a":["x"]}` };
      const change = { attributes, deadLetterQueue, basedOn: revision };
      expect(await sns.topics.rpc.changeTopicSubscription(arn, change)).toMatchObject({ ok: true });
    }
    const id = await publish("m", attribute(1, "a", "String"));
    expect(sns.copies()).toEqual({ dead: "m", good: "m" });
    const why =
      "its filter policy cannot be evaluated (FilterPolicy: Filter policy is too complex: 150 levels at most)";
    const logged = log.mock.calls.flat();
    expect(logged).toHaveLength(bad.length);
    expect(logged).toEqual(
      expect.arrayContaining([
        `SNS: message "${id}" for "${bad[0]}" goes to the dead-letter queue "dead": ${why}`,
        `SNS: message "${id}" for "${bad[1]}" is dropped: ${why}`,
      ]),
    );
    log.mockRestore();
  });

  it("keeps its message group for fair queues", async () => {
    await subscribe("mail", RAW);
    await publish("m", { MessageGroupId: "tenant" });
    expect(extensionOf(copyFor("mail").packed)).toMatchObject({ groupId: "tenant" });
  });

  it("what is published to a standard topic with more raw attributes than SQS takes goes to the dead-letter queue", async () => {
    const RedrivePolicy = '{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead"}';
    await subscribe("mail", { ...RAW, RedrivePolicy });
    await subscribe("dropped", RAW);
    await publish("fits", attributes(SQS_ATTRIBUTES_MAX));
    expect(Object.keys(sns.copies()).sort()).toEqual(["dropped", "mail"]);
    await publish("does not", attributes(SQS_ATTRIBUTES_MAX + 1));
    expect(sns.copies()).toEqual({ dead: "does not" });
  });

  it("goes to many in several calls, each of which fits into one commit", async () => {
    const size = 262_144;
    const count = Math.ceil(PUBLISH_BYTES_MAX / size) + 1;
    for (let i = 0; i < count; i++) await subscribe(`q${i}`, RAW);
    await publish("x".repeat(size));
    const bytes = sns.published.map(({ messages }) =>
      messages.flatMap(({ copies }) => copies).reduce((sum, { packed }) => sum + packed.byteLength, 0),
    );
    expect(bytes.reduce((sum, one) => sum + one)).toBe(count * (size + RECORD_HEADER_BYTES));
    expect(bytes).toHaveLength(2);
    for (const one of bytes) expect(one).toBeLessThanOrEqual(PUBLISH_BYTES_MAX);
  });
});

describe("the trace header of a request", () => {
  const Root = "Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1";
  const published = async (header: string, action = "Publish", parameters: Parameters = { Message: "m" }) => {
    const { status } = await sns.post(
      action,
      { TopicArn: ARN, ...parameters },
      { "x-amzn-trace-id": header },
    );
    expect(status).toBe(200);
    const copies = sns.published.at(-1)?.messages.flatMap((message) => message.copies) ?? [];
    return copies.map(({ packed }) => extensionOf(packed).traceHeader ?? null);
  };

  it("goes with each message to each queue, in an envelope or raw", async () => {
    await subscribe("mail");
    await subscribe("raw", RAW);
    expect(await published(Root)).toEqual([Root, Root]);
    const entries = {
      "PublishBatchRequestEntries.member.1.Id": "a",
      "PublishBatchRequestEntries.member.2.Id": "b",
    };
    const messages = {
      "PublishBatchRequestEntries.member.1.Message": "1",
      "PublishBatchRequestEntries.member.2.Message": "2",
    };
    expect(await published(Root, "PublishBatch", { ...entries, ...messages })).toEqual([
      Root,
      Root,
      Root,
      Root,
    ]);
  });

  it("goes with none that it could not be an attribute of", async () => {
    await subscribe("mail");
    expect(await published("x".repeat(TRACE_HEADER_LENGTH_MAX - 1))).toEqual([expect.any(String)]);
    expect(await published("x".repeat(TRACE_HEADER_LENGTH_MAX))).toEqual([expect.any(String)]);
    expect(await published("x".repeat(TRACE_HEADER_LENGTH_MAX + 1))).toEqual([null]);
    expect(await published("")).toEqual([null]);
  });
});

describe("what is published to a FIFO topic", () => {
  const create = (more: Parameters = {}) => sns.createTopic("news.fifo", { FifoTopic: "true", ...more });
  const send = (rest: Parameters = {}) =>
    sns.call("Publish", { TopicArn: FIFO_ARN, Message: "m", MessageGroupId: "g", ...rest }, "SequenceNumber");

  it("has a group and something that tells duplicates", async () => {
    await create();
    expect(await refusal({ TopicArn: FIFO_ARN })).toBe(
      invalid("The MessageGroupId parameter is required for FIFO topics"),
    );
    expect(await refusal({ TopicArn: FIFO_ARN, MessageGroupId: "g" })).toBe(
      invalid(
        "The topic should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly",
      ),
    );
    expect(
      await refusal({ TopicArn: FIFO_ARN, MessageGroupId: "a b", MessageDeduplicationId: "d" }),
    ).toContain("MessageGroupId Reason");
    await send({ MessageDeduplicationId: "d", MessageGroupId: "g".repeat(128) });
    expect(
      await refusal({ TopicArn: FIFO_ARN, MessageGroupId: "g".repeat(129), MessageDeduplicationId: "d" }),
    ).toContain("MessageGroupId Reason");
  });

  it("is numbered by the topic, also without subscribers, and is recognised by its body or its id", async () => {
    await create({ ContentBasedDeduplication: "true", FifoThroughputScope: "MessageGroup" });
    expect(await send()).toBe("1");
    await send({ MessageDeduplicationId: "d" });
    expect(sns.published).toMatchObject([
      {
        deduplicationScope: "messageGroup",
        messages: [{ groupId: "g", deduplicationId: expect.stringMatching(/^[0-9a-f]{64}$/) }],
      },
      { messages: [{ deduplicationId: "d" }] },
    ]);
  });

  it("has a place for its number in the envelope, and none when it is raw", async () => {
    await create();
    await subscribe("mail.fifo", {}, FIFO_ARN);
    await subscribe("raw", RAW, FIFO_ARN);
    await send({ Message: '00000000000000000000 "SequenceNumber"', MessageDeduplicationId: "d" });
    const [enveloped, raw] = [copyFor("mail.fifo"), copyFor("raw")];
    expect(raw.sequenceNumberAt).toBeNull();
    enveloped.packed.set(new TextEncoder().encode("12345678901234567890"), enveloped.sequenceNumberAt ?? 0);
    expect(JSON.parse(textOf(enveloped.packed))).toEqual({
      Type: "Notification",
      MessageId: expect.any(String),
      SequenceNumber: "12345678901234567890",
      TopicArn: FIFO_ARN,
      Message: '00000000000000000000 "SequenceNumber"',
      Timestamp: expect.any(String),
      UnsubscribeURL: expect.any(String),
    });
    expect(extensionOf(enveloped.packed)).toMatchObject({ groupId: "g", deduplicationId: "d" });
    expect(extensionOf(raw.packed)).not.toHaveProperty("groupId");
  });
});

describe("PublishBatch", () => {
  const batch = (messages: readonly Parameters[]) =>
    Object.fromEntries(
      messages.flatMap((members, i) =>
        Object.entries({ Message: "m", ...members }).map(([name, value]) => [
          `PublishBatchRequestEntries.member.${i + 1}.${name}`,
          value,
        ]),
      ),
    ) as Parameters;
  const refused = (messages: readonly Parameters[]) =>
    sns.refusal("PublishBatch", { TopicArn: ARN, ...batch(messages) });
  const numbered = (count: number) => Array.from({ length: count }, (_, i) => ({ Id: `i${i}` }));

  it("says that a message has no default text before it says that it has no group", async () => {
    await sns.createTopic("news.fifo", { FifoTopic: "true" });
    const json = { MessageStructure: "json", Message: '{"sqs":"x"}' };
    const entry = { TopicArn: FIFO_ARN, ...batch([{ Id: "a", ...json }]) };
    const group = invalid("The MessageGroupId parameter is required for FIFO topics");
    expect(await sns.refusal("PublishBatch", entry)).toBe(
      invalid("Message Structure - No default entry in JSON message body"),
    );
    expect(await sns.refusal("PublishBatch", { TopicArn: FIFO_ARN, ...batch([{ Id: "a" }]) })).toBe(group);
    expect(await sns.refusal("Publish", { TopicArn: FIFO_ARN, ...json })).toBe(group);
  });

  it("publishes all messages in one call, and answers each under its id", async () => {
    await subscribe("mail", RAW);
    const { xml } = await sns.post("PublishBatch", { TopicArn: ARN, ...batch(numbered(BATCH_ENTRIES_MAX)) });
    expect(textsIn(xml, "Id")).toEqual(numbered(BATCH_ENTRIES_MAX).map(({ Id }) => Id));
    expect(textsIn(xml, "MessageId")).toEqual(
      sns.published[0]?.messages.map(({ messageId }) =>
        messageId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"),
      ),
    );
    expect(xml).toContain("<Failed/>");
    expect(sns.published).toHaveLength(1);
  });

  it.each<[readonly Parameters[], string]>([
    [[], "400 EmptyBatchRequest The batch request doesn't contain any entries."],
    [
      numbered(BATCH_ENTRIES_MAX + 1),
      "400 TooManyEntriesInBatchRequest The batch request contains more entries than permissible.",
    ],
    [
      [{ Id: "a" }, { Id: "a" }],
      "400 BatchEntryIdsNotDistinct Two or more batch entries in the request have the same Id.",
    ],
    [
      [{ Id: "a b" }],
      "400 InvalidBatchEntryId The Id of a batch entry in the batch request contains an impermissible character: a b",
    ],
    [
      [{ Id: "a".repeat(81) }],
      `400 InvalidBatchEntryId The Id of a batch entry in the batch request is too long: ${"a".repeat(81)}`,
    ],
    [
      [
        { Id: "a", Message: "x".repeat(131_072) },
        { Id: "b", Message: "x".repeat(131_073) },
      ],
      "400 BatchRequestTooLong The length of all the messages put together is more than the limit.",
    ],
    [[{ Id: "a" }, { Id: "b", Message: "" }], invalid("Empty message")],
  ])("refuses %#", async (messages, text) => {
    expect(await refused(messages)).toBe(text);
    expect(sns.published).toEqual([]);
  });
});

describe("what is remembered of a topic", () => {
  let finds: number;
  beforeEach(async () => {
    finds = 0;
    const { findTopic } = sns.topics.rpc;
    Object.assign(sns.topics.rpc, {
      findTopic: (arn: string) => {
        finds += 1;
        return findTopic(arn);
      },
    });
    await subscribe("mail");
    finds = 0;
  });

  it("spares the directory: it is asked once", async () => {
    for (let i = 0; i < 5; i++) await publish(`message ${i}`);
    expect([finds, sns.outdated, sns.published.length]).toEqual([1, 0, 5]);
  });

  it.each<[string, () => Promise<unknown>, string[]]>([
    ["a queue is subscribed", () => subscribe("audit"), ["audit", "mail"]],
    [
      "a filter policy changes",
      async () => {
        const arn = await sns.call("ListSubscriptionsByTopic", { TopicArn: ARN }, "SubscriptionArn");
        await sns.post("SetSubscriptionAttributes", {
          SubscriptionArn: arn,
          AttributeName: "FilterPolicy",
          AttributeValue: '{"a":["b"]}',
        });
      },
      [],
    ],
    [
      "a queue is unsubscribed",
      async () => {
        const arn = await sns.call("ListSubscriptionsByTopic", { TopicArn: ARN }, "SubscriptionArn");
        await sns.post("Unsubscribe", { SubscriptionArn: arn });
      },
      [],
    ],
  ])("is not believed when %s", async (_, change, targets) => {
    await publish("before");
    await change();
    sns.published.length = 0;
    await publish("after");
    const copies = sns.published.flatMap(({ messages }) => messages.flatMap((message) => message.copies));
    expect(copies.map(({ target }) => target).sort()).toEqual(targets);
    expect(sns.outdated).toBe(1);
  });

  it("is not believed of a topic that was deleted, and created again", async () => {
    await publish("before");
    await sns.post("DeleteTopic", { TopicArn: ARN });
    expect(await refusal({ Message: "nobody" })).toBe("404 NotFound Topic does not exist");
    await sns.createTopic("news");
    await subscribe("audit");
    sns.published.length = 0;
    await publish("after");
    expect(sns.published).toMatchObject([{ messages: [{ copies: [{ target: "audit" }] }] }]);
  });

  it("refuses no request: the directory is asked before", async () => {
    await publish("x".repeat(262_144));
    expect(await refusal({ Message: "x".repeat(262_145) })).toBe(invalid("Message too long"));
    expect(finds).toBe(2);
    await sns.post("SetTopicAttributes", {
      TopicArn: ARN,
      AttributeName: "MaximumMessageSize",
      AttributeValue: "300000",
    });
    await publish("x".repeat(262_145));
  });

  it("does not say that a message has no subscriber", async () => {
    await sns.createTopic("quiet");
    const TopicArn = ARN.replace("news", "quiet");
    await sns.post("Publish", { TopicArn, Message: "a" });
    await subscribe("audit", {}, TopicArn);
    sns.published.length = 0;
    await sns.post("Publish", { TopicArn, Message: "b" });
    expect(sns.published).toHaveLength(1);
  });
});
