import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  AddPermissionCommand,
  ConfirmSubscriptionCommand,
  CreateTopicCommand,
  DeleteTopicCommand,
  GetSubscriptionAttributesCommand,
  GetTopicAttributesCommand,
  ListSubscriptionsByTopicCommand,
  ListSubscriptionsCommand,
  ListTagsForResourceCommand,
  ListTopicsCommand,
  PublishBatchCommand,
  PublishCommand,
  RemovePermissionCommand,
  SetSubscriptionAttributesCommand,
  SetTopicAttributesCommand,
  SNSClient,
  SNSServiceException,
  SubscribeCommand,
  TagResourceCommand,
  UnsubscribeCommand,
  UntagResourceCommand,
} from "@aws-sdk/client-sns";
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startBrokerWorker } from "./broker-worker.ts";

const ENTRY = `
import { defineBroker } from "./src/define-broker.ts";
const { QueueBroker, Directory, handler } = defineBroker({ topology: { queues: {} }, consumers: {} });
export { Directory, QueueBroker };
export default handler;
`;

const HOUR_S = 3_600;

let broker: Miniflare;
let sns: SNSClient;
let sqs: SQSClient;
let endpoint: string;
let dispose: () => Promise<void>;

beforeAll(async () => {
  const disposeWith = (end: () => Promise<void>) => {
    dispose = end;
  };
  broker = await startBrokerWorker(ENTRY, { SLUICE_ENV: "development" }, { disposeWith });
  endpoint = `${(await broker.ready).origin}/__sluice/aws`;
  const credentials = { accessKeyId: "anybody", secretAccessKey: "any secret" };
  const options = { endpoint, region: "us-east-1", credentials, maxAttempts: 1 };
  sns = new SNSClient(options);
  sqs = new SQSClient(options);
});

afterAll(async () => {
  sns.destroy();
  sqs.destroy();
  await dispose();
});

async function topic(Name: string, Attributes: Record<string, string> = {}): Promise<string> {
  return (await sns.send(new CreateTopicCommand({ Name, Attributes }))).TopicArn ?? "";
}

/** A new queue: its URL and its ARN. */
async function queue(QueueName: string, Attributes: Record<string, string> = {}) {
  const { QueueUrl = "" } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
  return { url: QueueUrl, arn: `arn:aws:sqs:us-east-1:000000000000:${QueueName}` };
}

async function subscribed(
  TopicArn: string,
  Endpoint: string,
  Attributes: Record<string, string> = {},
): Promise<string> {
  const { SubscriptionArn = "" } = await sns.send(
    new SubscribeCommand({ TopicArn, Protocol: "sqs", Endpoint, Attributes }),
  );
  return SubscriptionArn;
}

/** As many messages of a queue as are asked for, waited for. */
async function received(QueueUrl: string, count: number) {
  const all = [];
  while (all.length < count) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: 20,
        VisibilityTimeout: HOUR_S,
        MessageAttributeNames: ["All"],
        MessageSystemAttributeNames: ["All"],
      }),
    );
    all.push(...Messages);
  }
  return all;
}

interface Notification {
  readonly Message: string;
  readonly [member: string]: unknown;
}

function envelopeIn(body: string | undefined): Notification {
  return JSON.parse(body ?? "") as Notification;
}

/** What the SDK throws, as far as clients look at it. */
async function refusal(call: Promise<unknown>) {
  const error: unknown = await call.then(
    () => new Error("it was not refused"),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof SNSServiceException)) throw error;
  return { name: error.name, status: error.$metadata.httpStatusCode, message: error.message };
}

describe("topics, with the AWS SDK", () => {
  it("are created, described, changed, tagged, listed and deleted", async () => {
    const TopicArn = await topic("life");
    expect(TopicArn).toBe("arn:aws:sns:us-east-1:000000000000:life");
    expect((await sns.send(new ListTopicsCommand({}))).Topics).toContainEqual({ TopicArn });
    const set = { TopicArn, AttributeName: "DisplayName", AttributeValue: "Life" };
    await sns.send(new SetTopicAttributesCommand(set));
    const { Attributes } = await sns.send(new GetTopicAttributesCommand({ TopicArn }));
    expect(Attributes).toMatchObject({ DisplayName: "Life", Owner: "000000000000" });
    const Tags = [{ Key: "team", Value: "a" }];
    await sns.send(new TagResourceCommand({ ResourceArn: TopicArn, Tags }));
    expect((await sns.send(new ListTagsForResourceCommand({ ResourceArn: TopicArn }))).Tags).toEqual(Tags);
    await sns.send(new UntagResourceCommand({ ResourceArn: TopicArn, TagKeys: ["team"] }));
    expect((await sns.send(new ListTagsForResourceCommand({ ResourceArn: TopicArn }))).Tags).toEqual([]);
    const permission = { TopicArn, Label: "L", AWSAccountId: ["111122223333"], ActionName: ["Publish"] };
    await sns.send(new AddPermissionCommand(permission));
    await sns.send(new RemovePermissionCommand({ TopicArn, Label: "L" }));
    await sns.send(new DeleteTopicCommand({ TopicArn }));
    expect(await refusal(sns.send(new GetTopicAttributesCommand({ TopicArn })))).toEqual({
      name: "NotFoundException",
      status: 404,
      message: "Topic does not exist",
    });
    const policy = { ...set, TopicArn: await topic("life"), AttributeName: "DeliveryPolicy" };
    const retries = { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 101 };
    const AttributeValue = JSON.stringify({ http: { defaultHealthyRetryPolicy: retries } });
    expect(await refusal(sns.send(new SetTopicAttributesCommand({ ...policy, AttributeValue })))).toEqual({
      name: "InvalidParameterException",
      status: 400,
      message:
        "Invalid parameter: DeliveryPolicy: http.defaultHealthyRetryPolicy.numRetries must be less than or equal to 100",
    });
  });
});

describe("what is published to queues, with the AWS SDK", () => {
  it("reaches every subscription that wants it: in an envelope or raw, filtered, and each as its protocol's text", async () => {
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
    const first = { TopicArn, Message: 'first "ü" 😀', Subject: "Subject", MessageAttributes };
    const { MessageId } = await sns.send(new PublishCommand(first));
    const [enveloped] = await received(plain.url, 1);
    expect(enveloped?.MessageAttributes).toBeUndefined();
    expect(envelopeIn(enveloped?.Body)).toEqual({
      Type: "Notification",
      MessageId,
      TopicArn,
      Subject: "Subject",
      Message: 'first "ü" 😀',
      Timestamp: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      SignatureVersion: "1",
      Signature: expect.any(String),
      SigningCertURL: expect.stringMatching(`^${endpoint}/SimpleNotificationService-[0-9a-f]{32}\\.pem$`),
      UnsubscribeURL: `${endpoint}/?Action=Unsubscribe&SubscriptionArn=${SubscriptionArn}`,
      MessageAttributes: {
        kind: { Type: "String", Value: "a" },
        bytes: { Type: "Binary", Value: "AP8=" },
      },
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
            Message: JSON.stringify({ default: "for all", sqs: "for queues", email: "for nobody" }),
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

  it("goes by every change of the topic that was answered before it, though the topic is remembered", async () => {
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
    expect(await refusal(publish("nobody"))).toMatchObject({ status: 404 });
  });

  it("keeps order, numbers and duplicates of a FIFO topic", async () => {
    const TopicArn = await topic("news.fifo", { FifoTopic: "true", ContentBasedDeduplication: "true" });
    const fifo = await queue("first.fifo", { FifoQueue: "true" });
    const standard = await queue("second");
    await subscribed(TopicArn, fifo.arn);
    await subscribed(TopicArn, standard.arn, { RawMessageDelivery: "true" });
    const send = (Message: string) =>
      sns.send(new PublishCommand({ TopicArn, Message, MessageGroupId: "g" }));
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

  it("goes to the dead-letter queue of the subscription where its queue was deleted, and to all others", async () => {
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
});

describe("subscriptions, with the AWS SDK", () => {
  it("are described, changed and listed", async () => {
    const TopicArn = await topic("described");
    const { arn: Endpoint } = await queue("described");
    const SubscriptionArn = await subscribed(TopicArn, Endpoint);
    expect(await subscribed(TopicArn, Endpoint)).toBe(SubscriptionArn);
    const listed = { SubscriptionArn, TopicArn, Protocol: "sqs", Endpoint, Owner: "000000000000" };
    const ofTopic = await sns.send(new ListSubscriptionsByTopicCommand({ TopicArn }));
    expect(ofTopic.Subscriptions).toEqual([listed]);
    expect((await sns.send(new ListSubscriptionsCommand({}))).Subscriptions).toContainEqual(listed);
    const AttributeValue = JSON.stringify({ a: { b: ["c"] } });
    const set = { SubscriptionArn, AttributeName: "FilterPolicy", AttributeValue };
    expect(await refusal(sns.send(new SetSubscriptionAttributesCommand(set)))).toMatchObject({
      name: "InvalidParameterException",
      message:
        "Invalid parameter: Filter policy scope MessageAttributes does not support nested filter policy",
    });
    const scope = { ...set, AttributeName: "FilterPolicyScope", AttributeValue: "MessageBody" };
    await sns.send(new SetSubscriptionAttributesCommand(scope));
    await sns.send(new SetSubscriptionAttributesCommand(set));
    const shown = await sns.send(new GetSubscriptionAttributesCommand({ SubscriptionArn }));
    expect(shown.Attributes).toMatchObject({
      FilterPolicy: AttributeValue,
      FilterPolicyScope: "MessageBody",
      PendingConfirmation: "false",
      ConfirmationWasAuthenticated: "true",
      RawMessageDelivery: "false",
    });
  });

  it("of URLs are asked, get what is published once they are confirmed, and their queues are in no list", async () => {
    const TopicArn = await topic("hooks");
    const inbox = await receiver();
    const hook = { TopicArn, Protocol: "http", Endpoint: inbox.url };
    expect(await sns.send(new SubscribeCommand(hook))).toMatchObject({
      SubscriptionArn: "pending confirmation",
    });
    const asked = await inbox.next();
    const again = await sns.send(new SubscribeCommand({ ...hook, ReturnSubscriptionArn: true }));
    const { SubscriptionArn = "" } = again;
    const { headers, message } = await inbox.next();
    expect(headers).toMatchObject({
      "x-amz-sns-message-type": "SubscriptionConfirmation",
      "x-amz-sns-topic-arn": TopicArn,
      "x-amz-sns-message-id": message.MessageId,
    });
    const { Subscriptions } = await sns.send(new ListSubscriptionsByTopicCommand({ TopicArn }));
    expect(Subscriptions).toMatchObject([{ SubscriptionArn: "PendingConfirmation" }]);
    const { Attributes } = await sns.send(new GetSubscriptionAttributesCommand({ SubscriptionArn }));
    expect(Attributes).toMatchObject({ PendingConfirmation: "true" });
    expect(JSON.parse(Attributes?.EffectiveDeliveryPolicy ?? "")).toMatchObject({
      healthyRetryPolicy: { numRetries: 3, minDelayTarget: 20 },
      guaranteed: false,
    });
    const confirm = (Token: string) =>
      sns.send(new ConfirmSubscriptionCommand({ TopicArn, Token, AuthenticateOnUnsubscribe: "true" }));
    // The token of the first question counts no more.
    expect(await refusal(confirm(asked.message.Token ?? ""))).toMatchObject({
      name: "InvalidParameterException",
      message: "Invalid parameter: Token",
    });
    expect(await confirm(message.Token ?? "")).toMatchObject({ SubscriptionArn });
    const { MessageId } = await sns.send(new PublishCommand({ TopicArn, Message: "hello" }));
    expect(await inbox.next()).toMatchObject({
      headers: {
        "x-amz-sns-message-type": "Notification",
        "x-amz-sns-message-id": MessageId,
        "x-amz-sns-subscription-arn": SubscriptionArn,
        "content-type": "text/plain; charset=UTF-8",
      },
      message: { Type: "Notification", MessageId, Message: "hello" },
    });
    const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand({}));
    const { origin } = new URL(endpoint);
    const lists = await Promise.all(
      ["/__sluice/api/queues", "/__sluice/client/v4/accounts/any/queues"].map(async (list) =>
        (await fetch(`${origin}${list}`)).text(),
      ),
    );
    for (const list of [QueueUrls.join(" "), ...lists]) {
      expect(list).toMatch(/plain/);
      expect(list).not.toMatch(/subscription\/|topic\//);
    }
    const unsigned = await fetch(`${endpoint}/?Action=Unsubscribe&SubscriptionArn=${SubscriptionArn}`);
    expect([unsigned.status, await unsigned.text()]).toEqual([
      403,
      expect.stringContaining("AuthorizationError"),
    ]);
    await sns.send(new DeleteTopicCommand({ TopicArn }));
    expect(await refusal(sns.send(new GetSubscriptionAttributesCommand({ SubscriptionArn })))).toMatchObject({
      name: "NotFoundException",
      message: "Subscription does not exist",
    });
  });
});

/** What an endpoint was sent. */
interface Posted {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly message: Readonly<Record<string, string>>;
}

/** An HTTP endpoint of this process that answers 200 to everything, and gives what it was sent in order. */
async function receiver(): Promise<{ readonly url: string; next(): Promise<Posted> }> {
  const posted: Posted[] = [];
  const waiting: ((post: Posted) => void)[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => {
      response.end();
      const post = { headers: request.headers, message: JSON.parse(body) as Posted["message"] };
      const taker = waiting.shift();
      if (taker === undefined) posted.push(post);
      else taker(post);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    next: () => {
      const post = posted.shift();
      return post === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(post);
    },
  };
}
