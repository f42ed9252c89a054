import { createPrivateKey } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, globalAgent, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  CreateTopicCommand,
  GetSubscriptionAttributesCommand,
  ListSubscriptionsByTopicCommand,
  PublishCommand,
  SetSubscriptionAttributesCommand,
  SetTopicAttributesCommand,
  SNSClient,
  SubscribeCommand,
} from "@aws-sdk/client-sns";
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { createSigningIdentity } from "@sluice/sns";
import MessageValidator from "sns-validator";
import { beforeAll, describe, expect, it } from "vitest";
import { awsOptions, startSharedBroker } from "./any-broker.ts";
import { type EndpointPost, type SnsEndpoint, startSnsEndpoint } from "./sns-endpoint.ts";

let origin: string;
let sns: SNSClient;
let sqs: SQSClient;
let endpoint: SnsEndpoint;
let front: Server;

beforeAll(async () => {
  const broker = await startSharedBroker({ SLUICE_ENV: "development" });
  origin = broker.origin;
  const options = awsOptions(`${origin}/__sluice/aws`);
  sns = new SNSClient(options);
  sqs = new SQSClient(options);
  endpoint = await startSnsEndpoint();
  front = await startHttpsFront();
  return async () => {
    sns.destroy();
    sqs.destroy();
    globalAgent.destroy();
    front.close();
    front.closeAllConnections();
    await endpoint.close();
    await broker.dispose();
  };
});

/** Starts HTTPS in front of the broker, which libraries that check signatures need. Its certificate is self-signed. */
async function startHttpsFront(): Promise<Server> {
  const { privateKeyPkcs8, certificatePem } = await createSigningIdentity(Date.now());
  const key = createPrivateKey({ key: Buffer.from(privateKeyPkcs8, "base64"), format: "der", type: "pkcs8" });
  const pem = key.export({ format: "pem", type: "pkcs8" });
  const server = createServer({ key: pem, cert: certificatePem }, async (request, response) => {
    const answer = await fetch(`${origin}${request.url}`);
    response.writeHead(answer.status).end(await answer.text());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  globalAgent.options.rejectUnauthorized = false;
  return server;
}

/** Whether `sns-validator` accepts a message as genuine. The place of its certificate is not signed. */
function isGenuine(message: Readonly<Record<string, unknown>>): Promise<boolean> {
  const { port } = front.address() as AddressInfo;
  const SigningCertURL = String(message.SigningCertURL).replace(origin, `https://127.0.0.1:${port}`);
  const validator = new MessageValidator(/^127\.0\.0\.1:\d+$/);
  return new Promise((resolve) =>
    validator.validate({ ...message, SigningCertURL }, (error) => resolve(error === null)),
  );
}

async function pass(advanceMs: number): Promise<void> {
  const init = { method: "POST", body: JSON.stringify({ advanceMs }) };
  expect((await fetch(`${origin}/__sluice/api/clock`, init)).status).toBe(200);
}

async function topic(Name: string, Attributes: Record<string, string> = {}): Promise<string> {
  return (await sns.send(new CreateTopicCommand({ Name, Attributes }))).TopicArn ?? "";
}

const messageOf = (post: EndpointPost | undefined) => JSON.parse(post?.body ?? "") as Record<string, string>;

/** Subscribes a path of the endpoint, confirms it as the endpoint would, and returns the ARN of the subscription. */
async function subscribed(
  TopicArn: string,
  path: string,
  Attributes: Record<string, string> = {},
): Promise<string> {
  const Endpoint = endpoint.url(path);
  await sns.send(new SubscribeCommand({ TopicArn, Protocol: "http", Endpoint, Attributes }));
  const [confirmation] = await endpoint.arrived(path, 1);
  const answer = await (await fetch(messageOf(confirmation).SubscribeURL ?? "")).text();
  return /<SubscriptionArn>(.*)<\/SubscriptionArn>/.exec(answer)?.[1] ?? "";
}

const publish = (TopicArn: string, Message: string, more = {}) =>
  sns.send(new PublishCommand({ TopicArn, Message, ...more }));

async function deadLetterQueue(QueueName: string) {
  const { QueueUrl = "" } = await sqs.send(new CreateQueueCommand({ QueueName }));
  const deadLetterTargetArn = `arn:aws:sqs:us-east-1:000000000000:${QueueName}`;
  const received = async () => {
    const all = { MessageAttributeNames: ["All"], MessageSystemAttributeNames: ["All" as const] };
    return (
      (await sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20, ...all }))).Messages ?? []
    );
  };
  return { RedrivePolicy: JSON.stringify({ deadLetterTargetArn }), received };
}

describe("an HTTP endpoint that is subscribed to a topic", () => {
  it("is asked first, gets messages once it has confirmed, and is told when it is unsubscribed", async () => {
    const TopicArn = await topic("handshake");
    const request = { TopicArn, Protocol: "http", Endpoint: endpoint.url("/hook") };
    expect((await sns.send(new SubscribeCommand(request))).SubscriptionArn).toBe("pending confirmation");
    const [asked] = await endpoint.arrived("/hook", 1);
    const question = messageOf(asked);
    expect(asked?.headers).toMatchObject({
      "x-amz-sns-message-type": "SubscriptionConfirmation",
      "x-amz-sns-message-id": question.MessageId,
      "x-amz-sns-topic-arn": TopicArn,
      "content-type": "text/plain; charset=UTF-8",
      "user-agent": "Amazon Simple Notification Service Agent",
    });
    expect(asked?.headers).not.toHaveProperty("x-amz-sns-subscription-arn");
    expect(await isGenuine(question)).toBe(true);

    await publish(TopicArn, "too early");
    await fetch(question.SubscribeURL ?? "");
    const { Subscriptions = [] } = await sns.send(new ListSubscriptionsByTopicCommand({ TopicArn }));
    const SubscriptionArn = Subscriptions[0]?.SubscriptionArn ?? "";
    const MessageAttributes = { color: { DataType: "String", StringValue: "blue" } };
    const { MessageId } = await publish(TopicArn, "hello", { Subject: "greeting", MessageAttributes });
    const notification = (await endpoint.arrived("/hook", 2))[1];
    expect(notification?.headers).toMatchObject({
      "x-amz-sns-message-type": "Notification",
      "x-amz-sns-message-id": MessageId,
      "x-amz-sns-topic-arn": TopicArn,
      "x-amz-sns-subscription-arn": SubscriptionArn,
      "content-type": "text/plain; charset=UTF-8",
    });
    const first = messageOf(notification);
    expect(first).toMatchObject({
      MessageId,
      Message: "hello",
      Subject: "greeting",
      SignatureVersion: "1",
      MessageAttributes: { color: { Type: "String", Value: "blue" } },
    });
    expect(await isGenuine(first)).toBe(true);
    expect(await isGenuine({ ...first, Message: "changed" })).toBe(false);

    const second = { AttributeName: "SignatureVersion", AttributeValue: "2" };
    await sns.send(new SetTopicAttributesCommand({ TopicArn, ...second }));
    await publish(TopicArn, "again");
    const again = messageOf((await endpoint.arrived("/hook", 3))[2]);
    expect(again).toMatchObject({ Message: "again", SignatureVersion: "2" });
    expect(await isGenuine(again)).toBe(true);

    expect((await fetch(again.UnsubscribeURL ?? "")).status).toBe(200);
    const farewell = (await endpoint.arrived("/hook", 4))[3];
    expect(farewell?.headers).toMatchObject({
      "x-amz-sns-message-type": "UnsubscribeConfirmation",
      "x-amz-sns-subscription-arn": SubscriptionArn,
    });
    await publish(TopicArn, "without a subscriber");
    // The link in the last message subscribes it again.
    await fetch(messageOf(farewell).SubscribeURL ?? "");
    await publish(TopicArn, "to a subscriber");
    expect(messageOf((await endpoint.arrived("/hook", 5))[4]).Message).toBe("to a subscriber");
  });

  it("that fails gets messages again by its subscription's policy; then they are dead-lettered", async () => {
    const TopicArn = await topic("retries");
    const { RedrivePolicy, received } = await deadLetterQueue("retries-dead");
    const healthyRetryPolicy = {
      minDelayTarget: 10,
      maxDelayTarget: 30,
      numRetries: 4,
      numNoDelayRetries: 1,
    };
    const DeliveryPolicy = JSON.stringify({
      healthyRetryPolicy,
      requestPolicy: { headerContentType: "application/json" },
    });
    const SubscriptionArn = await subscribed(TopicArn, "/flaky", { DeliveryPolicy, RedrivePolicy });
    const shown = await sns.send(new GetSubscriptionAttributesCommand({ SubscriptionArn }));
    expect(JSON.parse(shown.Attributes?.EffectiveDeliveryPolicy ?? "")).toMatchObject({ healthyRetryPolicy });

    endpoint.answers("/flaky", 503);
    // Neither a hanging endpoint nor a missing one keeps the others waiting.
    const Endpoint = "http://127.0.0.1:1/missing";
    await sns.send(new SubscribeCommand({ TopicArn, Protocol: "http", Endpoint }));
    await subscribed(TopicArn, "/fine");
    await subscribed(TopicArn, "/hangs");
    endpoint.answers("/hangs", null);
    const { MessageId } = await publish(TopicArn, "hello");
    await endpoint.arrived("/hangs", 2);
    expect(messageOf((await endpoint.arrived("/fine", 2))[1]).Message).toBe("hello");
    // The first attempt and the retry without a delay; retries with a delay wait for the clock.
    const posts = await endpoint.arrived("/flaky", 3);
    expect(posts[1]?.headers["content-type"]).toBe("application/json");
    while (endpoint.posts("/flaky").length < 6) await pass(5_000);
    const bodies = endpoint
      .posts("/flaky")
      .slice(1)
      .map(({ body }) => body);
    expect(new Set(bodies).size).toBe(1);
    const [dead] = await received();
    expect(dead?.Body).toBe(bodies[0]);
    expect(dead?.MessageId).not.toBe(MessageId);
    expect(dead).not.toHaveProperty("MessageAttributes");
    expect(dead?.Attributes).not.toHaveProperty("DeadLetterQueueSourceArn");
    await pass(3_600_000);
    expect(endpoint.posts("/flaky")).toHaveLength(6);
    expect(endpoint.others).toEqual([]);
  });

  it("gets only the message with raw delivery; one that it refuses is a dead letter at once", async () => {
    const TopicArn = await topic("raw");
    const { RedrivePolicy, received } = await deadLetterQueue("raw-dead");
    const SubscriptionArn = await subscribed(TopicArn, "/raw", { RawMessageDelivery: "true", RedrivePolicy });
    const DeliveryPolicy = JSON.stringify({ requestPolicy: { headerContentType: "text/csv" } });
    const set = { SubscriptionArn, AttributeName: "DeliveryPolicy", AttributeValue: DeliveryPolicy };
    await sns.send(new SetSubscriptionAttributesCommand(set));
    endpoint.answers("/raw", 404);
    const MessageAttributes = { color: { DataType: "String", StringValue: "blue" } };
    await publish(TopicArn, "a,b\n", { MessageAttributes });
    const post = (await endpoint.arrived("/raw", 2))[1];
    expect(post).toMatchObject({
      body: "a,b\n",
      headers: { "x-amz-sns-rawdelivery": "true", "content-type": "text/csv" },
    });
    const [dead] = await received();
    expect(dead).toMatchObject({ Body: "a,b\n", MessageAttributes });
  });
});

describe("a restarted broker", () => {
  it("makes the policy's number of attempts over restarts, with the same bytes", {
    tags: "slow",
  }, async () => {
    const persistDir = mkdtempSync(path.join(tmpdir(), "sluice-sns-"));
    const start = async () => {
      const { origin: at, dispose } = await startSharedBroker({ SLUICE_ENV: "development" }, { persistDir });
      const client = awsOptions(`${at}/__sluice/aws`);
      const clients = { sns: new SNSClient(client), sqs: new SQSClient(client) };
      const stop = async () => {
        clients.sns.destroy();
        clients.sqs.destroy();
        await dispose();
      };
      return { at, stop, ...clients };
    };

    let life = await start();
    const { TopicArn = "" } = await life.sns.send(new CreateTopicCommand({ Name: "restarted" }));
    await life.sqs.send(new CreateQueueCommand({ QueueName: "dead" }));
    // Longer than the steps of the clock, so that no request begins at the moment of a stop.
    const healthyRetryPolicy = { minDelayTarget: 100, maxDelayTarget: 100, numRetries: 6 };
    const Attributes = {
      DeliveryPolicy: JSON.stringify({ healthyRetryPolicy }),
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn: "arn:aws:sqs:us-east-1:000000000000:dead" }),
    };
    const Endpoint = endpoint.url("/restarted");
    await life.sns.send(new SubscribeCommand({ TopicArn, Protocol: "http", Endpoint, Attributes }));
    const [confirmation] = await endpoint.arrived("/restarted", 1);
    await fetch(messageOf(confirmation).SubscribeURL ?? "");
    endpoint.answers("/restarted", 503);
    await life.sns.send(new PublishCommand({ TopicArn, Message: "hello" }));

    const attempts = () => endpoint.posts("/restarted").slice(1);
    for (const seen of [1, 3, 6]) {
      while (attempts().length < seen) await movedOn(life);
      // The answer may not have arrived yet.
      await life.stop();
      life = await start();
    }
    const { QueueUrl = "" } = await life.sqs.send(new CreateQueueCommand({ QueueName: "dead" }));
    const receive = async () => (await life.sqs.send(new ReceiveMessageCommand({ QueueUrl }))).Messages ?? [];
    let dead = await receive();
    for (; dead.length === 0; dead = await receive()) await movedOn(life);
    expect(attempts()).toHaveLength(7);
    expect(new Set(attempts().map(({ body }) => body))).toEqual(new Set([dead[0]?.Body]));
    await life.stop();
    rmSync(persistDir, { recursive: true });
  });

  async function movedOn({ at }: { readonly at: string }): Promise<void> {
    const init = { method: "POST", body: JSON.stringify({ advanceMs: 5_000 }) };
    expect((await fetch(`${at}/__sluice/api/clock`, init)).status).toBe(200);
  }
});
