import type { NewMove, Scope } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import type { AbleQueue } from "../../test/directory.ts";
import { SnsClient } from "../../test/sns-client.ts";
import { SqsClient } from "../../test/sqs-client.ts";
import { SNS_HANDLERS } from "./sns/actions.ts";
import { SQS_HANDLERS } from "./sqs/actions.ts";

const OTHERS: Readonly<Record<string, readonly Scope[]>> = {
  read: ["send", "consume"],
  send: ["read", "consume"],
  consume: ["read", "send"],
  admin: ["read", "send", "consume"],
};
const USER = "User: arn:aws:iam::000000000000:user/shop is not authorized to perform:";
const QUEUE_ARN = "arn:aws:sqs:us-east-1:000000000000:orders";
const QUEUE_URL = "http://localhost/000000000000/orders";

/** An input that names the queue "orders", whatever the action calls it. */
const INPUT = {
  QueueUrl: QUEUE_URL,
  QueueName: "orders",
  SourceArn: QUEUE_ARN,
  MessageBody: "1",
  Label: "l",
  TaskHandle: btoa(JSON.stringify({ taskId: "t", sourceArn: QUEUE_ARN })),
  ReceiptHandle: "r",
  AWSAccountIds: ["111111111111"],
  Actions: ["SendMessage"],
  Attributes: {},
  VisibilityTimeout: 1,
  Entries: [{ Id: "a", MessageBody: "1", ReceiptHandle: "r", VisibilityTimeout: 1 }],
  Tags: { a: "b" },
  TagKeys: ["a"],
};

describe.each(Object.entries(SQS_HANDLERS))("%s of SQS", (action, { need }) => {
  it("is refused to a key that has every other scope, in AWS's words", async () => {
    if (need.scope === "any") return;
    const sqs = new SqsClient({ key: { scopes: OTHERS[need.scope] ?? [] } });
    expect(await sqs.refusal(action, INPUT)).toMatchObject({
      status: 403,
      code: "AccessDenied",
      message: expect.stringContaining(`${USER} sqs:${action.toLowerCase()} on resource: arn:aws:sqs:`),
    });
  });

  it("is refused to a key for other queues", async () => {
    if (need.queues === "listed") return;
    const sqs = new SqsClient({ key: { scopes: ["admin"], queues: ["mail*"] } });
    expect(await sqs.refusal(action, INPUT)).toMatchObject({
      status: 403,
      code: "AccessDenied",
      message: expect.stringContaining(`on resource: ${QUEUE_ARN} because no identity-based policy allows`),
    });
  });
});

describe.each(Object.entries(SNS_HANDLERS))("%s of SNS", (action, { need }) => {
  it("is refused to a key without the scope, and to one for some queues", async () => {
    for (const rights of [
      { scopes: OTHERS[need.scope] ?? [] },
      { scopes: ["admin"] as const, queues: ["*"] },
    ]) {
      const sns = new SnsClient(undefined, rights);
      expect(await sns.refusal(action)).toContain(
        `AuthorizationError ${USER} SNS:${action} on resource: arn:aws:sns:`,
      );
    }
  });
});

describe("a key for some queues", () => {
  /** Creates a client that may use queues that begin with "mail", where there are others. */
  async function mailer(objects: AbleQueue = {}): Promise<SqsClient> {
    const all = new SqsClient();
    for (const QueueName of ["orders", "mails", "mails-dead"]) await all.call("CreateQueue", { QueueName });
    const sqs = new SqsClient({ key: { scopes: ["admin"], queues: ["mail*"] }, objects });
    for (const record of all.account.records.values()) sqs.account.put(record);
    return sqs;
  }

  it("lists those alone, and works with them", async () => {
    const sqs = await mailer();
    const { QueueUrls } = (await sqs.call("ListQueues")) as { QueueUrls: string[] };
    expect(QueueUrls.map((url) => url.split("/").at(-1))).toEqual(["mails", "mails-dead"]);
    await sqs.call("CreateQueue", { QueueName: "mails-2" });
    expect(sqs.audit.records).toMatchObject([{ action: "queue.create", target: "mails-2", by: "shop" }]);
  });

  it("sends no dead letters to another, and a move of them back leaves what came from another", async () => {
    const started: NewMove[] = [];
    const startMove = async (_queue: string, move: NewMove) => {
      started.push(move);
      return { ok: false, reason: "active" } as const;
    };
    const sqs = await mailer({ startMove });
    const redrive = (name: string) =>
      JSON.stringify({
        deadLetterTargetArn: `arn:aws:sqs:us-east-1:000000000000:${name}`,
        maxReceiveCount: 1,
      });
    const QueueUrl = "http://localhost/000000000000/mails";
    const set = (name: string) =>
      sqs.refusal("SetQueueAttributes", { QueueUrl, Attributes: { RedrivePolicy: redrive(name) } });
    expect(await set("orders")).toMatchObject({ code: "AccessDenied" });
    const orders = [...sqs.account.records.values()].find(({ name }) => name === "orders");
    const receive = {
      redrive: { deadLetterQueue: "mails-dead", maxReceiveCount: 1 },
      visibilityTimeoutMs: 30_000,
      waitMs: 0,
    };
    if (orders !== undefined) sqs.account.put({ ...orders, definition: { ...orders.definition, receive } });
    const SourceArn = "arn:aws:sqs:us-east-1:000000000000:mails-dead";
    await sqs.refusal("StartMessageMoveTask", { SourceArn });
    expect(started).toMatchObject([{ target: null, mayReach: ["mail*"] }]);
  });
});

it("a key that asks too often is told when to ask again", async () => {
  const sqs = new SqsClient({ key: { scopes: ["admin"], throttledSeconds: 3 } });
  expect(await sqs.refusal("ListQueues")).toEqual({
    status: 403,
    code: "RequestThrottled",
    message: "Rate exceeded",
  });
  const headers = { "x-amz-target": "AmazonSQS.ListQueues", "content-type": "application/x-amz-json-1.0" };
  const init = { method: "POST", body: "{}", headers };
  expect((await sqs.request("http://localhost/", init)).headers.get("retry-after")).toBe("3");
  expect(
    await new SnsClient(undefined, { scopes: ["admin"], throttledSeconds: 3 }).refusal("ListTopics"),
  ).toBe("429 Throttled Rate exceeded");
});
