import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  AddPermissionCommand,
  ConfirmSubscriptionCommand,
  DeleteTopicCommand,
  GetSubscriptionAttributesCommand,
  GetTopicAttributesCommand,
  ListSubscriptionsByTopicCommand,
  ListSubscriptionsCommand,
  ListTagsForResourceCommand,
  ListTopicsCommand,
  PublishCommand,
  RemovePermissionCommand,
  SetSubscriptionAttributesCommand,
  SetTopicAttributesCommand,
  SubscribeCommand,
  TagResourceCommand,
  UntagResourceCommand,
} from "@aws-sdk/client-sns";
import { ListQueuesCommand } from "@aws-sdk/client-sqs";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { endpoint, queue, refusal, sns, sqs, start, subscribed, topic } from "./sns-sdk.ts";

beforeAll(start);

it("topics, with the AWS SDK are created, described, changed, tagged, listed and deleted", async () => {
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
      "Invalid parameter: DeliveryPolicy: http.defaultHealthyRetryPolicy.numRetries must be less than " +
      "or equal to 100",
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

  it("of URLs are asked to confirm, get messages once they have, and have queues in no list", async () => {
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
    // The token of the first request is not valid any more.
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
    await queue("ordinary");
    const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand({}));
    const { origin } = new URL(endpoint);
    const lists = await Promise.all(
      ["/__sluice/api/queues", "/__sluice/client/v4/accounts/any/queues"].map(async (list) =>
        (await fetch(`${origin}${list}`)).text(),
      ),
    );
    for (const list of [QueueUrls.join(" "), ...lists]) {
      expect(list).toMatch(/ordinary/);
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

/** A request that an endpoint got. */
interface Posted {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly message: Readonly<Record<string, string>>;
}

/** Starts an HTTP endpoint in this process that answers 200 to everything, and returns its requests in order. */
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
