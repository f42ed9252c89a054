import { TAGS_MAX } from "@sluice/aws";
import { beforeEach, describe, expect, it } from "vitest";
import { entries, refusalIn, SnsClient, textsIn } from "../../../../test/sns-client.ts";

const ARN = "arn:aws:sns:us-east-1:000000000000:news";
let sns: SnsClient;

beforeEach(() => {
  sns = new SnsClient();
});

const show = (TopicArn = ARN) => sns.attributes("GetTopicAttributes", { TopicArn });
const set = (AttributeName: string, AttributeValue: string, TopicArn = ARN) =>
  sns.refusal("SetTopicAttributes", { TopicArn, AttributeName, AttributeValue });
const tag = (tags: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(tags).flatMap(([key, value], i) => [
      [`Tags.member.${i + 1}.Key`, key],
      [`Tags.member.${i + 1}.Value`, value],
    ]),
  ) as Record<string, string>;

describe("CreateTopic", () => {
  it("answers with the topic that there is if nothing that is asked for differs", async () => {
    const attributes = { DisplayName: "News", SignatureVersion: "2" };
    expect(await sns.createTopic("news", attributes)).toBe(ARN);
    expect(await sns.createTopic("news")).toBe(ARN);
    expect(await sns.createTopic("news", { SignatureVersion: "2" })).toBe(ARN);
    const other = entries("Attributes", { SignatureVersion: "1" });
    expect(await sns.refusal("CreateTopic", { Name: "news", ...other })).toBe(
      "400 InvalidParameter Invalid parameter: Attributes Reason: Topic already exists with different attributes",
    );
  });

  it("answers with the topic that has the tags it is asked for, whatever others it has", async () => {
    const create = (tags: Readonly<Record<string, string>>) =>
      sns.post("CreateTopic", { Name: "news", ...tag(tags) });
    for (const tags of [{ a: "1", b: "2" }, { a: "1", b: "2" }, { b: "2" }, {}]) {
      expect(textsIn((await create(tags)).xml, "TopicArn")).toEqual([ARN]);
    }
    for (const tags of [{ a: "2" }, { a: "1", c: "3" }, { toString: "1" }]) {
      expect(refusalIn(await create(tags))).toBe(
        "400 InvalidParameter Invalid parameter: Tags Reason: Topic already exists with different tags",
      );
    }
  });

  it("takes an attribute that was never set for its default", async () => {
    await sns.createTopic("news");
    const defaults = { SignatureVersion: "1", TracingConfig: "PassThrough", MaximumMessageSize: "262144" };
    expect(await sns.createTopic("news", defaults)).toBe(ARN);
    const fifo = await sns.createTopic("news.fifo", { FifoTopic: "true" });
    const own = { FifoThroughputScope: "Topic", ContentBasedDeduplication: "false" };
    expect(await sns.createTopic("news.fifo", { FifoTopic: "true", ...own })).toBe(fifo);
    for (const changed of [{ SignatureVersion: "2" }, { MaximumMessageSize: "262143" }] as const) {
      const other = entries("Attributes", changed);
      expect(await sns.refusal("CreateTopic", { Name: "news", ...other })).toContain("different attributes");
    }
  });

  it.each([
    ["", false],
    ["a b", false],
    ["a.fifo", false],
    ["a", true],
    ["x".repeat(257), false],
  ])("refuses the name %j (FIFO: %s)", async (Name, isFifo) => {
    const attributes = isFifo ? entries("Attributes", { FifoTopic: "true" }) : {};
    expect(await sns.refusal("CreateTopic", { Name, ...attributes })).toBe(
      "400 InvalidParameter Invalid parameter: Topic Name",
    );
  });

  it("takes a name of 256 characters, and wants one", async () => {
    expect(await sns.createTopic("x".repeat(256))).toMatch(/x{256}$/);
    expect(await sns.refusal("CreateTopic")).toContain("ValidationError 1 validation error detected");
  });

  it("makes a topic of the region of the request", async () => {
    await sns.createTopic("news");
    expect(await sns.refusal("GetTopicAttributes", { TopicArn: ARN.replace("us-east-1", "eu-west-1") })).toBe(
      "400 InvalidParameter Invalid parameter: TopicArn",
    );
  });
});

describe("a topic's ARN", () => {
  it.each([
    [
      "news",
      "400 InvalidParameter Invalid parameter: TopicArn Reason: An ARN must have at least 6 elements, not 1",
    ],
    [
      "a:b:c:d:e",
      "400 InvalidParameter Invalid parameter: TopicArn Reason: An ARN must have at least 6 elements, not 5",
    ],
    [ARN.replace("sns", "sqs"), "400 InvalidParameter Invalid parameter: TopicArn"],
    [ARN, "404 NotFound Topic does not exist"],
  ])("the ARN %s is answered with %s", async (TopicArn, text) => {
    expect(await sns.refusal("GetTopicAttributes", { TopicArn })).toBe(text);
  });

  it("a topic's ARN of a topic that was deleted is refused, but by DeleteTopic", async () => {
    const TopicArn = await sns.createTopic("news");
    await sns.call("DeleteTopic", { TopicArn });
    await sns.call("DeleteTopic", { TopicArn });
    expect(await sns.refusal("ListSubscriptionsByTopic", { TopicArn })).toBe(
      "404 NotFound Topic does not exist",
    );
  });
});

describe("topic attributes", () => {
  it("topic attributes are shown with their defaults", async () => {
    await sns.createTopic("news");
    expect(await show()).toMatchObject({
      TopicArn: ARN,
      Owner: "000000000000",
      DisplayName: "",
      SubscriptionsConfirmed: "0",
      SubscriptionsPending: "0",
      SubscriptionsDeleted: "0",
      EffectiveDeliveryPolicy:
        '{"http":{"defaultHealthyRetryPolicy":{"minDelayTarget":20,"maxDelayTarget":20,"numRetries":3,' +
        '"numMaxDelayRetries":0,"numNoDelayRetries":0,"numMinDelayRetries":0,"backoffFunction":"linear"},' +
        '"disableSubscriptionOverrides":false,"defaultRequestPolicy":{"headerContentType":"text/plain; ' +
        'charset=UTF-8"}}}',
    });
    expect(await show()).not.toHaveProperty("FifoTopic");
    const fifo = await sns.createTopic("news.fifo", { FifoTopic: "true" });
    expect(await show(fifo)).toMatchObject({ FifoTopic: "true", ContentBasedDeduplication: "false" });
  });

  it("topic attributes are set, shown in their stored form, and removed by an empty value", async () => {
    await sns.createTopic("news");
    const retries = { minDelayTarget: 1, maxDelayTarget: 2, numRetries: 5 };
    const policy = JSON.stringify({ http: { defaultHealthyRetryPolicy: retries } });
    const setTo = (AttributeValue: string) =>
      sns.call("SetTopicAttributes", { TopicArn: ARN, AttributeName: "DeliveryPolicy", AttributeValue });
    await setTo(policy);
    const shown = await show();
    expect(JSON.parse(shown.DeliveryPolicy ?? "")).toEqual({
      http: { defaultHealthyRetryPolicy: retries, disableSubscriptionOverrides: false },
    });
    expect(shown.EffectiveDeliveryPolicy).toContain('"numRetries":5');
    await setTo("");
    expect(await show()).not.toHaveProperty("DeliveryPolicy");
  });

  it.each([
    ["FifoTopic", "true", "AttributeName"],
    ["Nothing", "x", "AttributeName"],
    ["DeliveryPolicy", '{"throttlePolicy":{}}', "DeliveryPolicy: Unexpected JSON member: throttlePolicy"],
    ["Policy", "{", "Policy: failed to parse JSON."],
    ["DisplayName", "x".repeat(101), "DisplayName: must be at most 100 characters long"],
    ["SignatureVersion", "3", "SignatureVersion: Invalid value [3]. Must be 1 or 2."],
    ["MaximumMessageSize", "1023", "MaximumMessageSize: Invalid value [1023]. Must be from 1024 to 1048576."],
    [
      "MaximumMessageSize",
      "1048577",
      "MaximumMessageSize: Invalid value [1048577]. Must be from 1024 to 1048576.",
    ],
    [
      "HTTPSuccessFeedbackSampleRate",
      "101",
      "HTTPSuccessFeedbackSampleRate: Invalid value [101]. Must be from 0 to 100.",
    ],
    ["ContentBasedDeduplication", "true", "ContentBasedDeduplication: only FIFO topics have it"],
    ["ArchivePolicy", "{}", "ArchivePolicy: this broker keeps no archive of messages"],
  ])("%s is refused as %s", async (name, value, text) => {
    await sns.createTopic("news");
    expect(await set(name, value)).toBe(`400 InvalidParameter Invalid parameter: ${text}`);
    // When a topic is created the words in front are others.
    if (name === "FifoTopic") return;
    const attributes = entries("Attributes", { [name]: value });
    expect(await sns.refusal("CreateTopic", { Name: "other", ...attributes })).toBe(
      `400 InvalidParameter Invalid parameter: Attributes Reason: ${text}`,
    );
  });

  it.each([
    ["DisplayName", "x".repeat(100)],
    ["MaximumMessageSize", "1024"],
    ["MaximumMessageSize", "1048576"],
    ["HTTPSuccessFeedbackSampleRate", "100"],
    ["KmsMasterKeyId", "alias/aws/sns"],
    ["TracingConfig", "Active"],
  ])("%s can be %s", async (AttributeName, AttributeValue) => {
    await sns.createTopic("news");
    await sns.call("SetTopicAttributes", { TopicArn: ARN, AttributeName, AttributeValue });
    expect((await show())[AttributeName]).toBe(AttributeValue);
  });
});

describe("permissions", () => {
  const permission = { TopicArn: ARN, Label: "L", "AWSAccountId.member.1": "111122223333" };

  it("permissions are statements of the policy", async () => {
    await sns.createTopic("news");
    await sns.call("AddPermission", { ...permission, "ActionName.member.1": "Publish" });
    const { Statement } = JSON.parse((await show()).Policy ?? "") as { Statement: object[] };
    expect(Statement).toHaveLength(2);
    expect(Statement[1]).toEqual({
      Sid: "L",
      Effect: "Allow",
      Principal: { AWS: "arn:aws:iam::111122223333:root" },
      Action: "SNS:Publish",
      Resource: ARN,
    });
    expect(await sns.refusal("AddPermission", { ...permission, "ActionName.member.1": "Publish" })).toContain(
      "Statement already exists",
    );
    await sns.call("RemovePermission", { TopicArn: ARN, Label: "L" });
    expect(await sns.refusal("RemovePermission", { TopicArn: ARN, Label: "L" })).toContain(
      "Invalid parameter: Label",
    );
  });

  it("permissions are added to a policy that has its one statement without a list", async () => {
    await sns.createTopic("news");
    const only = { Sid: "only", Effect: "Allow" };
    const AttributeValue = JSON.stringify({ Statement: only });
    await sns.call("SetTopicAttributes", { TopicArn: ARN, AttributeName: "Policy", AttributeValue });
    await sns.call("AddPermission", { ...permission, "ActionName.member.1": "Publish" });
    const { Statement } = JSON.parse((await show()).Policy ?? "") as { Statement: object[] };
    expect(Statement).toMatchObject([only, { Sid: "L" }]);
  });

  it("permissions are refused for actions that do not exist", async () => {
    await sns.createTopic("news");
    expect(await sns.refusal("AddPermission", { ...permission, "ActionName.member.1": "Dance" })).toBe(
      "400 InvalidParameter Invalid parameter: Policy statement action out of service scope!",
    );
  });
});

describe("tags", () => {
  const tags = async () => {
    const { xml } = await sns.post("ListTagsForResource", { ResourceArn: ARN });
    return Object.fromEntries(textsIn(xml, "Key").map((key, i) => [key, textsIn(xml, "Value")[i]]));
  };

  it("tags are added, replaced and taken away", async () => {
    await sns.createTopic("news");
    await sns.call("TagResource", { ResourceArn: ARN, ...tag({ a: "1", b: "2" }) });
    await sns.call("TagResource", { ResourceArn: ARN, ...tag({ b: "3" }) });
    expect(await tags()).toEqual({ a: "1", b: "3" });
    await sns.call("UntagResource", { ResourceArn: ARN, "TagKeys.member.1": "a" });
    expect(await tags()).toEqual({ b: "3" });
  });

  it("tags are not lost when another request changes the topic at the same moment", async () => {
    await sns.createTopic("news");
    sns.topics.meanwhile = () => sns.call("TagResource", { ResourceArn: ARN, ...tag({ other: "1" }) });
    await sns.call("TagResource", { ResourceArn: ARN, ...tag({ mine: "1" }) });
    expect(await tags()).toEqual({ other: "1", mine: "1" });
  });

  it.each(["aws:x", "AWS:x"])("tags with the reserved key %j are refused", async (key) => {
    await sns.createTopic("news");
    const refusal =
      "400 InvalidParameter Invalid parameter: Tags Reason: aws: prefixed tag key names are not allowed " +
      "for external use.";
    expect(await sns.refusal("TagResource", { ResourceArn: ARN, ...tag({ [key]: "1" }) })).toBe(refusal);
    expect(await sns.refusal("CreateTopic", { Name: "news-2", ...tag({ [key]: "1" }) })).toBe(refusal);
    expect(await tags()).toEqual({});
  });

  it("tags with a key that an object loses are refused", async () => {
    await sns.createTopic("news");
    const Tags = JSON.parse('{"mine": "1", "__proto__": "2"}');
    expect(await sns.refusal("TagResource", { ResourceArn: ARN, ...tag(Tags) })).toBe(
      "400 InvalidParameter Invalid parameter: Tags Reason: A tag cannot have the key __proto__.",
    );
    expect(await tags()).toEqual({});
  });

  it("tags are 50 at most, each key once", async () => {
    await sns.createTopic("news");
    const many = Object.fromEntries(Array.from({ length: TAGS_MAX }, (_, i) => [`k${i}`, "v"]));
    await sns.call("TagResource", { ResourceArn: ARN, ...tag(many) });
    expect(await sns.refusal("TagResource", { ResourceArn: ARN, ...tag({ more: "v" }) })).toContain(
      "400 TagLimitExceeded",
    );
    const twice = { ...tag({ a: "1" }), "Tags.member.2.Key": "a", "Tags.member.2.Value": "2" };
    expect(await sns.refusal("TagResource", { ResourceArn: ARN, ...twice })).toBe(
      "400 InvalidParameter Invalid parameter: Duplicated keys are not allowed.",
    );
    expect(await sns.refusal("TagResource", { ResourceArn: `${ARN}2`, ...tag({ a: "1" }) })).toBe(
      "404 ResourceNotFound Resource does not exist",
    );
  });
});

describe("lists of topics", () => {
  it("lists of topics come in pages of 100", async () => {
    for (let i = 0; i < 101; i++) await sns.createTopic(`t${String(i).padStart(3, "0")}`);
    const first = (await sns.post("ListTopics")).xml;
    expect(textsIn(first, "TopicArn")).toHaveLength(100);
    const second = (await sns.post("ListTopics", { NextToken: textsIn(first, "NextToken")[0] ?? "" })).xml;
    expect([textsIn(second, "TopicArn"), textsIn(second, "NextToken")]).toEqual([
      [ARN.replace("news", "t100")],
      [],
    ]);
    expect(refusalIn(await sns.post("ListTopics", { NextToken: "no token" }))).toBe(
      "400 InvalidParameter Invalid parameter: NextToken",
    );
  });

  it("lists of topics have an element also when they are empty", async () => {
    expect((await sns.post("ListTopics")).xml).toContain("<Topics/>");
  });
});

it("an action that SNS does not have is refused", async () => {
  expect(await sns.refusal("CreatePlatformApplication")).toContain("400 InvalidAction");
});
