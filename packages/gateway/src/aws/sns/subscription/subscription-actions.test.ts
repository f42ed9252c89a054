import { CONFIRMATION_TOKEN_MS, PENDING_SUBSCRIPTION_MS, TOPIC_FILTER_POLICIES_MAX } from "@sluice/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { ENDPOINT, entries, refusalIn, SnsClient, textsIn } from "../../../../test/sns-client.ts";
import type { AwsAccess } from "../../caller.ts";

const ARN = "arn:aws:sns:us-east-1:000000000000:news";
const HOOK = "http://localhost:9/hook";
const queueArn = (name: string) => `arn:aws:sqs:us-east-1:000000000000:${name}`;
let sns: SnsClient;

beforeEach(async () => {
  sns = new SnsClient();
  await sns.createTopic("news");
});

type Parameters = Readonly<Record<string, string>>;

const form = (Endpoint: string, attributes: Parameters = {}, rest: Parameters = {}) => {
  const Protocol = Endpoint.startsWith("arn:") ? "sqs" : (Endpoint.split(":")[0] ?? "");
  return { TopicArn: ARN, Protocol, Endpoint, ...entries("Attributes", attributes), ...rest };
};
const subscribe = (endpoint: string, attributes: Parameters = {}, rest: Parameters = {}) =>
  sns.call("Subscribe", form(endpoint, attributes, rest), "SubscriptionArn");
const pending = () => subscribe(HOOK, {}, { ReturnSubscriptionArn: "true" });
const refusal = (endpoint: string, attributes: Parameters = {}, rest: Parameters = {}) =>
  sns.refusal("Subscribe", form(endpoint, attributes, rest));
const show = (SubscriptionArn: string) => sns.attributes("GetSubscriptionAttributes", { SubscriptionArn });
const set = (SubscriptionArn: string, AttributeName: string, AttributeValue: string) =>
  sns.post("SetSubscriptionAttributes", { SubscriptionArn, AttributeName, AttributeValue });
const invalid = (text: string) => `400 InvalidParameter Invalid parameter: ${text}`;

/** The latest message that went to an endpoint. */
function asked(): Record<string, string> {
  return JSON.parse(sns.enqueued.at(-1)?.body ?? "") as Record<string, string>;
}

describe("Subscribe", () => {
  it.each<[string, Parameters, string]>([
    [
      "an unknown protocol",
      { Protocol: "x" },
      invalid("Amazon SNS does not support this protocol string: x"),
    ],
    [
      "a protocol that this broker does not deliver over",
      { Protocol: "email" },
      invalid("Protocol Reason: this broker delivers over http, https and sqs, not over email"),
    ],
    ["http under https", { Protocol: "https" }, invalid("Endpoint must match the specified protocol")],
    ["no URL", { Endpoint: "http://" }, invalid("Endpoint")],
    ["no endpoint", { Endpoint: "" }, "404 NotFound Endpoint not specified in subscription"],
    ["the URL of a queue", { Protocol: "sqs" }, invalid("SQS endpoint ARN")],
    [
      "a FIFO queue",
      { Protocol: "sqs", Endpoint: queueArn("a.fifo") },
      invalid(
        "Invalid parameter: Endpoint Reason: FIFO SQS Queues can not be subscribed to standard SNS topics",
      ),
    ],
    ["a topic that there is not", { TopicArn: `${ARN}2` }, "404 NotFound Topic does not exist"],
  ])("refuses %s", async (_what, rest, text) => {
    expect(await refusal(HOOK, {}, rest)).toBe(text);
  });

  it("takes queues alone for a FIFO topic", async () => {
    const TopicArn = await sns.createTopic("news.fifo", { FifoTopic: "true" });
    expect(await refusal(HOOK, {}, { TopicArn })).toBe(
      invalid("Protocol Reason: FIFO topics deliver to SQS queues only"),
    );
    const dead = JSON.stringify({ deadLetterTargetArn: queueArn("dead") });
    expect(await refusal(queueArn("a.fifo"), { RedrivePolicy: dead }, { TopicArn })).toBe(
      invalid(
        "Attributes Reason: RedrivePolicy: must use a FIFO queue as DLQ for a FIFO Subscription to a FIFO Topic.",
      ),
    );
    await subscribe(queueArn("a"), { RedrivePolicy: dead }, { TopicArn });
  });

  it("answers with the subscription that there is, if nothing that is asked for differs", async () => {
    const arn = await subscribe(queueArn("mail"), { RawMessageDelivery: "True" });
    expect(arn).toMatch(new RegExp(`^${ARN}:[0-9a-f-]{36}$`));
    expect(await subscribe(queueArn("mail"))).toBe(arn);
    expect(await subscribe(queueArn("mail"), { RawMessageDelivery: "true" })).toBe(arn);
    expect(await refusal(queueArn("mail"), { RawMessageDelivery: "false" })).toBe(
      invalid("Attributes Reason: Subscription already exists with different attributes"),
    );
  });

  it("takes an attribute that was never set for its default", async () => {
    const arn = await subscribe(queueArn("mail"));
    const defaults = { FilterPolicyScope: "MessageAttributes", RawMessageDelivery: "False" };
    expect(await subscribe(queueArn("mail"), defaults)).toBe(arn);
    expect(await refusal(queueArn("mail"), { FilterPolicyScope: "MessageBody" })).toBe(
      invalid("Attributes Reason: Subscription already exists with different attributes"),
    );
    const named = await subscribe(queueArn("named"), defaults);
    expect(await subscribe(queueArn("named"), defaults)).toBe(named);
    expect(await subscribe(queueArn("named"))).toBe(named);
  });

  it("has a limit of filter policies", async () => {
    const FilterPolicy = '{"a":["b"]}';
    for (let i = 0; i < TOPIC_FILTER_POLICIES_MAX; i++) await subscribe(queueArn(`q${i}`), { FilterPolicy });
    expect(await refusal(queueArn("more"), { FilterPolicy })).toContain("403 FilterPolicyLimitExceeded");
  });
});

describe("subscription attributes", () => {
  it.each([
    ["Nothing", "x", "AttributeName"],
    ["RawMessageDelivery", "x", "RawMessageDelivery: Invalid value [x]. Must be true or false."],
    ["RawMessageDelivery", "", "RawMessageDelivery: Invalid value []. Must be true or false."],
    [
      "FilterPolicyScope",
      "x",
      "FilterPolicyScope: Invalid value [x]. Please use either MessageBody or MessageAttributes",
    ],
    [
      "FilterPolicy",
      '{"a":{"b":["c"]}}',
      "Filter policy scope MessageAttributes does not support nested filter policy",
    ],
    ["RedrivePolicy", "{", "RedrivePolicy: failed to parse JSON."],
    ["RedrivePolicy", "{}", "RedrivePolicy: deadLetterTargetArn is an invalid arn"],
    [
      "RedrivePolicy",
      '{"maxReceiveCount":1}',
      "RedrivePolicy: invalid JSON. Attribute maxReceiveCount is unknown.",
    ],
    [
      "DeliveryPolicy",
      '{"healthyRetryPolicy":{"minDelayTarget":0,"maxDelayTarget":1,"numRetries":1}}',
      "DeliveryPolicy: healthyRetryPolicy.minDelayTarget must be greater than or equal to 1",
    ],
    ["ReplayPolicy", "{}", "ReplayPolicy: this broker keeps no archive of messages"],
  ])("%s is refused as %s, in the words of each action", async (name, value, text) => {
    expect(await refusal(HOOK, { [name]: value })).toBe(invalid(`Attributes Reason: ${text}`));
    expect(refusalIn(await set(await pending(), name, value))).toBe(invalid(text));
  });

  it("subscription attributes are refused for subscriptions that do not exist", async () => {
    expect(refusalIn(await set(`${ARN}:none`, "RawMessageDelivery", "true"))).toBe(
      "404 NotFound Subscription does not exist",
    );
    expect(await sns.refusal("GetSubscriptionAttributes", { SubscriptionArn: "x" })).toContain(
      "at least 6 elements",
    );
  });

  it("subscription attributes show a delivery policy in its stored form with the effective one, over HTTP alone", async () => {
    const arn = await pending();
    const hours = '{"healthyRetryPolicy":{"minDelayTarget":3600,"maxDelayTarget":3600,"numRetries":2}}';
    expect(refusalIn(await set(arn, "DeliveryPolicy", hours))).toBe(
      invalid(
        "DeliveryPolicy: healthyRetryPolicy: total retry time must be less than or equal to 3600 seconds",
      ),
    );
    // Messages that live longer may be tried for longer.
    sns.topics.settings = { messageLifeSeconds: 7_199 };
    expect(refusalIn(await set(arn, "DeliveryPolicy", hours))).toContain(
      "less than or equal to 7199 seconds",
    );
    sns.topics.settings = { messageLifeSeconds: 7_200 };
    expect((await set(arn, "DeliveryPolicy", hours)).status).toBe(200);
    await set(arn, "DeliveryPolicy", '{"throttlePolicy":{"maxReceivesPerSecond":5}}');
    const shown = await show(arn);
    expect(JSON.parse(shown.DeliveryPolicy ?? "")).toEqual({
      healthyRetryPolicy: null,
      sicklyRetryPolicy: null,
      throttlePolicy: { maxReceivesPerSecond: 5 },
      requestPolicy: null,
      guaranteed: false,
    });
    expect(JSON.parse(shown.EffectiveDeliveryPolicy ?? "")).toMatchObject({
      healthyRetryPolicy: { numRetries: 3 },
      throttlePolicy: { maxReceivesPerSecond: 5 },
    });
    await set(arn, "DeliveryPolicy", "");
    expect(await show(arn)).not.toHaveProperty("DeliveryPolicy");
    const queue = await subscribe(queueArn("mail"));
    expect(await show(queue)).not.toHaveProperty("EffectiveDeliveryPolicy");
    expect(refusalIn(await set(queue, "DeliveryPolicy", "{}"))).toBe(
      invalid("DeliveryPolicy: only subscriptions with the protocol http or https have one"),
    );
  });

  it("subscription attributes show a scope with a filter policy alone, and check each against the other", async () => {
    const arn = await subscribe(queueArn("mail"));
    await set(arn, "FilterPolicyScope", "MessageBody");
    expect(await show(arn)).not.toHaveProperty("FilterPolicyScope");
    await set(arn, "FilterPolicy", '{"a":{"b":["c"]}}');
    expect(await show(arn)).toMatchObject({ FilterPolicyScope: "MessageBody" });
    expect(refusalIn(await set(arn, "FilterPolicyScope", "MessageAttributes"))).toContain("nested");
  });

  it("subscription attributes of the final set decide which content type there may be", async () => {
    const requestPolicy = '{"requestPolicy":{"headerContentType":"text/csv"}}';
    expect(await refusal(HOOK, { DeliveryPolicy: requestPolicy })).toContain("headerContentType");
    await subscribe(HOOK, { DeliveryPolicy: requestPolicy, RawMessageDelivery: "true" });
  });

  it("subscription attributes are not lost when another request changes the subscription at the same moment", async () => {
    const arn = await subscribe(queueArn("mail"));
    sns.topics.meanwhile = () => set(arn, "RawMessageDelivery", "true");
    await set(arn, "FilterPolicy", '{"a":["b"]}');
    expect(await show(arn)).toMatchObject({ RawMessageDelivery: "true", FilterPolicy: '{"a":["b"]}' });
  });
});

describe("the confirmation of a URL", () => {
  it("is asked for by a message in its queue, and given by a visit to its SubscribeURL", async () => {
    expect(await subscribe(HOOK)).toBe("pending confirmation");
    expect(asked()).toMatchObject({ Type: "SubscriptionConfirmation", TopicArn: ARN, SignatureVersion: "1" });
    expect(asked().Token).toMatch(/^[0-9a-f]{288}$/);
    expect(asked().SubscribeURL).toBe(
      `${ENDPOINT}/?Action=ConfirmSubscription&TopicArn=${ARN}&Token=${asked().Token}`,
    );
    const { xml: before } = await sns.post("ListSubscriptions");
    expect(textsIn(before, "SubscriptionArn")).toEqual(["PendingConfirmation"]);
    const { xml } = await sns.visit(asked().SubscribeURL ?? "");
    const [arn = ""] = textsIn(xml, "SubscriptionArn");
    expect(sns.enqueued.at(-1)?.queue).toBe(`subscription/${arn.split(":").at(-1)}`);
    expect(await show(arn)).toMatchObject({
      PendingConfirmation: "false",
      ConfirmationWasAuthenticated: "false",
    });
    const again = await sns.visit(asked().SubscribeURL ?? "");
    expect(textsIn(again.xml, "SubscriptionArn")).toEqual([arn]);
  });

  it("is asked for anew by another Subscribe, whose token counts from then on", async () => {
    await subscribe(HOOK);
    const first = asked().SubscribeURL ?? "";
    await subscribe(HOOK);
    expect(refusalIn(await sns.visit(first))).toBe(invalid("Token"));
    expect((await sns.visit(asked().SubscribeURL ?? "")).status).toBe(200);
  });

  it("is by the token: whichever topic of the region is named with it", async () => {
    await subscribe(HOOK);
    const { Token = "" } = asked();
    const confirm = (TopicArn: string, token = Token) =>
      sns.refusal("ConfirmSubscription", { TopicArn, Token: token });
    expect(await confirm("no arn")).toBe(invalid("Topic"));
    expect(await confirm(ARN.replace("us-east-1", "eu-west-1"))).toBe(invalid("Topic"));
    expect(await confirm(ARN, "x")).toBe("400 InvalidParameter Invalid token");
    for (const topic of [ARN, `${ARN}-other`, ARN.replace("us-east-1", "eu-west-1")]) {
      expect(await confirm(topic, `${Token.slice(0, -8)}00000000`)).toBe(invalid("Token"));
      expect(await confirm(topic, "0".repeat(288))).toBe(invalid("Token"));
    }
    const url = `${ENDPOINT}/?Action=ConfirmSubscription&TopicArn=${ARN}&Token=x`;
    expect(refusalIn(await sns.visit(url))).toBe(invalid("Token"));
    await sns.call("ConfirmSubscription", { TopicArn: `${ARN}-other`, Token });
  });

  it("can be given for two days, and an unconfirmed subscription is forgotten after three", async () => {
    const arn = await pending();
    sns.topics.nowMs += CONFIRMATION_TOKEN_MS;
    expect(refusalIn(await sns.visit(asked().SubscribeURL ?? ""))).toBe(invalid("Token"));
    sns.topics.nowMs += PENDING_SUBSCRIPTION_MS - CONFIRMATION_TOKEN_MS;
    expect(await sns.refusal("GetSubscriptionAttributes", { SubscriptionArn: arn })).toContain(
      "404 NotFound",
    );
  });
});

describe("Unsubscribe", () => {
  const unsubscribe = (SubscriptionArn: string) => sns.post("Unsubscribe", { SubscriptionArn });
  const visit = (arn: string) => sns.visit(`${ENDPOINT}/?Action=Unsubscribe&SubscriptionArn=${arn}`);
  const confirmed = async (rest: Parameters = {}) => {
    const arn = await pending();
    await sns.call("ConfirmSubscription", { TopicArn: ARN, Token: asked().Token ?? "", ...rest });
    return arn;
  };

  it("deletes a subscription; one that there is not is as good as deleted", async () => {
    const arn = await subscribe(queueArn("mail"));
    expect((await unsubscribe(arn)).status).toBe(200);
    expect((await unsubscribe(arn)).status).toBe(200);
    expect(await sns.refusal("GetSubscriptionAttributes", { SubscriptionArn: arn })).toContain(
      "404 NotFound",
    );
    expect(await sns.attributes("GetTopicAttributes", { TopicArn: ARN })).toMatchObject({
      SubscriptionsDeleted: "1",
    });
  });

  it.each([
    ["", invalid("SubscriptionArn Reason: no value for required parameter")],
    ["a:b", invalid("SubscriptionArn Reason: An ARN must have at least 6 elements, not 2")],
    [ARN, invalid("SubscriptionId")],
  ])("refuses %j", async (arn, text) => {
    expect(refusalIn(await unsubscribe(arn))).toBe(text);
  });

  it("leaves one alone that is not confirmed", async () => {
    expect(refusalIn(await unsubscribe(await pending()))).toContain("not confirmed");
  });

  it("Unsubscribe by a link tells the endpoint, which can take it back", async () => {
    const arn = await confirmed();
    expect((await visit(arn)).status).toBe(200);
    expect(asked()).toMatchObject({ Type: "UnsubscribeConfirmation", TopicArn: ARN });
    expect(sns.purged).toEqual([sns.enqueued.at(-1)?.queue]);
    expect(textsIn((await sns.post("ListSubscriptions")).xml, "SubscriptionArn")).toEqual([]);
    await sns.visit(asked().SubscribeURL ?? "");
    expect(await show(arn)).toMatchObject({ PendingConfirmation: "false" });
  });

  it("Unsubscribe by a call of the owner sends the endpoint nothing", async () => {
    const arn = await confirmed();
    const before = sns.enqueued.length;
    await unsubscribe(arn);
    expect(sns.enqueued).toHaveLength(before);
    expect(sns.topics.queues.hidden()).toEqual([]);
  });

  it("is for the owner alone where the confirmation asked for it", async () => {
    const arn = await confirmed({ AuthenticateOnUnsubscribe: "true" });
    expect(refusalIn(await visit(arn))).toContain("403 AuthorizationError");
    expect((await unsubscribe(arn)).status).toBe(200);
  });
});

it("with access keys only the links of messages need no signature where there are access keys", async () => {
  const secrets = new Map([["key", "secret"]]);
  const closed = new SnsClient({ kind: "keys", secrets });
  expect(refusalIn(await closed.visit(`${ENDPOINT}/?Action=ListTopics&Version=2010-03-31`))).toContain(
    "403 MissingAuthenticationToken",
  );
  const url = `${ENDPOINT}/?Action=ConfirmSubscription&TopicArn=${ARN}&Token=x`;
  expect(refusalIn(await closed.visit(url))).toBe(invalid("Token"));
  expect((await closed.visit(`${ENDPOINT}/?Action=Unsubscribe&SubscriptionArn=${ARN}:1`)).status).toBe(200);
  closed.topics.nowMs = Date.UTC(2026, 10, 1); // when it is signed
  expect(await closed.refusal("ListTopics")).toContain("403 InvalidClientTokenId");
});

it.each<AwsAccess>([
  { kind: "closed", reason: "it has none" },
  { kind: "keys", secrets: new Map(), whenNone: "it has none" },
  { kind: "open", pages: () => "it has none" },
])("SNS refuses who may do nothing, with access %o, in a code of its own", async (access) => {
  expect(await new SnsClient(access).refusal("ListTopics")).toBe("403 AuthorizationError it has none");
});
