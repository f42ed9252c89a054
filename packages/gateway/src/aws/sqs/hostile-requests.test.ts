import { describe, expect, it } from "vitest";
import { arnOf, SqsClient } from "../../../test/sqs-client.ts";

/**
 * Requests that no client of good will sends, each of which some fuzzer has: refused in AWS's words, never with a 500.
 */

const CONTROL = "\u0000";

async function form(client: SqsClient, params: Record<string, string>, init: RequestInit = {}) {
  const answer = await client.request("http://localhost/", {
    method: "POST",
    body: new URLSearchParams(params),
    ...init,
  });
  return { status: answer.status, text: await answer.text() };
}

it.each(["PUT", "DELETE", "PATCH", "OPTIONS"])("a %s is no operation that AWS knows", async (method) => {
  const answer = await new SqsClient().request("http://localhost/", { method });
  expect([answer.status, await answer.text()]).toEqual([404, "<UnknownOperationException/>"]);
});

it("a HEAD carries nothing out", async () => {
  const client = new SqsClient();
  const url = "http://localhost/?Action=CreateQueue&QueueName=orders";
  expect((await client.request(url, { method: "HEAD" })).status).toBe(404);
  expect(await client.call("ListQueues")).toEqual({});
});

describe("a policy", () => {
  it.each([
    ["an object", { toString: 1 }, "{...}"],
    ["a list", [[1]], "[...]"],
  ])("a policy to redrive is refused whose maxReceiveCount is %s", async (_, maxReceiveCount, shown) => {
    const client = new SqsClient();
    await client.create("dead");
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: arnOf("dead"), maxReceiveCount });
    const refusal = await client.refusal("CreateQueue", {
      QueueName: "orders",
      Attributes: { RedrivePolicy },
    });
    expect(refusal).toMatchObject({ status: 400, code: "InvalidParameterValue" });
    expect(refusal.message).toContain(`Invalid value for maxReceiveCount: ${shown}, `);
  });

  it("a policy of one statement that is no list keeps it when a permission is added", async () => {
    const client = new SqsClient();
    const statement = { Sid: "own", Effect: "Deny" };
    const QueueUrl = await client.create("orders", { Policy: JSON.stringify({ Statement: statement }) });
    const grant = { QueueUrl, Label: "one", AWSAccountIds: ["123456789012"], Actions: ["SendMessage"] };
    await client.call("AddPermission", grant);
    const { Policy = "" } = await client.attributes(QueueUrl, "Policy");
    expect(JSON.parse(Policy).Statement).toMatchObject([statement, { Sid: "one" }]);
    await client.call("RemovePermission", { QueueUrl, Label: "own" });
    expect(JSON.parse((await client.attributes(QueueUrl, "Policy")).Policy ?? "").Statement).toHaveLength(1);
  });

  it.each([{ Statement: [null] }, { Statement: "x" }, { Statement: 1 }, { Statement: [[]] }])(
    "%j is no policy",
    async (policy) => {
      const Attributes = { Policy: JSON.stringify(policy) };
      const refusal = await new SqsClient().refusal("CreateQueue", { QueueName: "orders", Attributes });
      expect(refusal).toMatchObject({ status: 400, code: "InvalidAttributeValue" });
    },
  );

  it("a policy that permissions would make longer than 8,192 bytes is refused", async () => {
    const client = new SqsClient();
    const padding = "x".repeat(7_900);
    const QueueUrl = await client.create("orders", {
      Policy: JSON.stringify({ Id: padding, Statement: [] }),
    });
    const grant = (Label: string) => ({
      QueueUrl,
      Label,
      AWSAccountIds: ["123456789012"],
      Actions: ["SendMessage"],
    });
    await client.call("AddPermission", grant("fits"));
    const refusal = await client.refusal("AddPermission", grant("too-much"));
    expect(refusal).toMatchObject({ status: 400, code: "InvalidAttributeValue" });
    expect(JSON.parse((await client.attributes(QueueUrl)).Policy ?? "").Statement).toHaveLength(1);
  });
});

describe("a permission", () => {
  const add = async (changes: object) => {
    const client = new SqsClient();
    const QueueUrl = await client.create("orders");
    const grant = { QueueUrl, Label: "one", AWSAccountIds: ["123456789012"], Actions: ["SendMessage"] };
    return client.refusal("AddPermission", { ...grant, ...changes });
  };

  it.each([["x"], ["12345678901"], ["1234567890123"]])("is not for an account %s", async (account) => {
    expect(await add({ AWSAccountIds: [account] })).toEqual({
      status: 400,
      code: "InvalidParameterValue",
      message: `Value [${account}] for parameter PrincipalId is invalid. Reason: Unable to verify.`,
    });
  });

  it.each([
    [50, 200],
    [51, 403],
  ])("a permission for %s accounts is answered with %s", async (count, status) => {
    const AWSAccountIds = Array.from({ length: count }, (_, i) => String(100_000_000_000 + i));
    expect((await add({ AWSAccountIds })).status).toBe(status);
  });

  it("names an action at least", async () => {
    expect(await add({ Actions: [] })).toMatchObject({ status: 400, code: "MissingParameter" });
  });
});

describe("a text that XML cannot hold", () => {
  it("is replaced in a refusal", async () => {
    const { status, text } = await form(new SqsClient(), { Action: `Send${CONTROL}Message\u{1f986}` });
    expect(status).toBe(400);
    expect(text).toContain("<Message>The action Send\ufffdMessage\u{1f986} is not valid for this endpoint.");
  });

  it.each([
    ["a key", { [`a${CONTROL}`]: "v" }],
    ["a value", { a: CONTROL }],
  ])("is not %s of a tag", async (_, tags) => {
    const refusal = await new SqsClient().refusal("CreateQueue", { QueueName: "orders", tags });
    expect(refusal).toMatchObject({ status: 400, code: "InvalidParameterValue" });
  });

  it.each([
    ["KmsMasterKeyId", CONTROL],
    ["Policy", JSON.stringify({ Statement: [] }).replace("}", ',"a":"\ufffe"}')],
  ])("is not part of the attribute %s", async (name, value) => {
    const Attributes = { [name]: value };
    const refusal = await new SqsClient().refusal("CreateQueue", { QueueName: "orders", Attributes });
    expect(refusal).toMatchObject({ status: 400, code: "InvalidAttributeValue" });
  });

  it.each([
    ["type", { MessageAttributes: { a: { DataType: `String.${CONTROL}`, StringValue: "v" } } }],
    [
      "trace header",
      { MessageSystemAttributes: { AWSTraceHeader: { DataType: "String", StringValue: CONTROL } } },
    ],
  ])("is not the %s of a message", async (_, attributes) => {
    const client = new SqsClient();
    const QueueUrl = await client.create("orders");
    const refusal = await client.refusal("SendMessage", { QueueUrl, MessageBody: "x", ...attributes });
    expect(refusal).toMatchObject({ status: 400, code: "InvalidParameterValue" });
  });
});

describe("a text that is too long to be kept", () => {
  it.each([
    [2_048, 200],
    [2_049, 400],
  ])("is no key: %s letters are answered with %s", async (length, status) => {
    const Attributes = { KmsMasterKeyId: "k".repeat(length) };
    expect((await new SqsClient().refusal("CreateQueue", { QueueName: "orders", Attributes })).status).toBe(
      status,
    );
  });

  it("is the name of no queue", async () => {
    const client = new SqsClient();
    const QueueUrl = `http://localhost/000000000000/${"q".repeat(3_000_000)}`;
    expect(await client.refusal("DeleteQueue", { QueueUrl })).toMatchObject({
      code: "AWS.SimpleQueueService.NonExistentQueue",
    });
    expect(client.account.lookups.every((name) => name.length <= 256)).toBe(true);
  });
});
