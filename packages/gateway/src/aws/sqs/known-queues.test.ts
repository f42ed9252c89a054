import type { EnqueueReply, EnqueueRequest } from "@sluice/protocol";
import { expect, it } from "vitest";
import { DEAD, recordOf } from "../../../test/directory.ts";
import { SqsClient } from "../../../test/sqs-client.ts";
import { KNOWN_QUEUES_MAX, KnownQueues } from "./known-queues.ts";

const SENT = [{ messageId: "0".repeat(32), sequenceNumber: null, duplicate: false }];

/** A client whose queues' objects know of every change at once, as they do; and how often the directory was asked. */
function clientWithObjects() {
  const sent: number[] = [];
  const enqueue = async (queue: string, { revision = 0 }: EnqueueRequest): Promise<EnqueueReply> => {
    const known = sqs.account.records.get(queue)?.revision;
    if (known === undefined) return { ok: false, code: 10104, cause: "gone" };
    if (revision < known) return { ok: "outdated" };
    sent.push(revision);
    return { ok: true, messages: SENT };
  };
  const sqs = new SqsClient({ objects: { enqueue } });
  let asked = 0;
  const { findByName } = sqs.account.directory;
  Object.assign(sqs.account.directory, {
    findByName: (name: string) => {
      asked += 1;
      return findByName(name);
    },
  });
  const send = (QueueUrl: string, MessageBody = "x") => ({ QueueUrl, MessageBody });
  return { sqs, send, sent, askedSince: () => asked };
}

it("the directory is asked once for a queue that is sent to again and again", async () => {
  const { sqs, send, askedSince } = clientWithObjects();
  const QueueUrl = await sqs.create("q");
  const before = askedSince();
  for (let i = 0; i < 5; i++) await sqs.call("SendMessage", send(QueueUrl));
  expect(askedSince() - before).toBe(1);
});

it("a change of a queue by any dialect holds for the next message", async () => {
  const { sqs, send, sent } = clientWithObjects();
  const QueueUrl = await sqs.create("q");
  const large = "x".repeat(1_025);
  await sqs.call("SendMessage", send(QueueUrl, large));
  await sqs.call("SetQueueAttributes", { QueueUrl, Attributes: { MaximumMessageSize: "1024" } });
  expect(await sqs.refusalText("SendMessage", send(QueueUrl, large))).toContain(
    "must be shorter than 1024 bytes",
  );
  await sqs.call("SetQueueAttributes", { QueueUrl, Attributes: { MaximumMessageSize: "1025" } });
  await sqs.call("SendMessageBatch", { QueueUrl, Entries: [{ Id: "a", MessageBody: large }] });
  expect(sent).toEqual([1, 3]);
});

it("a queue that was deleted does not exist, and one that was created again does", async () => {
  const { sqs, send, sent } = clientWithObjects();
  const QueueUrl = await sqs.create("q");
  await sqs.call("SendMessage", send(QueueUrl));
  sqs.account.records.delete("q");
  expect((await sqs.refusal("SendMessage", send(QueueUrl))).code).toBe(
    "AWS.SimpleQueueService.NonExistentQueue",
  );
  await sqs.create("q");
  await sqs.call("SendMessage", send(QueueUrl));
  expect(sent).toHaveLength(2);
});

it("a queue that is changed with every attempt is refused in the end, and SDKs try again", async () => {
  const { sqs, send } = clientWithObjects();
  const QueueUrl = await sqs.create("q");
  const { findByName } = sqs.account.directory;
  const changing = async (name: string) => {
    const record = await findByName(name);
    if (record !== null) sqs.account.put(record);
    return record;
  };
  Object.assign(sqs.account.directory, { findByName: changing });
  expect((await sqs.refusal("SendMessage", send(QueueUrl))).code).toBe("RequestThrottled");
});

it("a URL that says no region names the queue of each caller's own", async () => {
  const { sqs } = clientWithObjects();
  const QueueUrl = await sqs.create("q");
  await sqs.call("SendMessage", { QueueUrl, MessageBody: "x" });
  const request = (region: string) =>
    sqs.request("http://localhost/", {
      method: "POST",
      headers: {
        "x-amz-target": "AmazonSQS.SendMessage",
        authorization:
          `AWS4-HMAC-SHA256 Credential=k/20261121/${region}/sqs/aws4_request, SignedHeaders=host, ` +
          "Signature=00",
        "x-amz-date": "20261121T000000Z",
      },
      body: JSON.stringify({ QueueUrl, MessageBody: "x" }),
    });
  for (let i = 0; i < 2; i++) {
    expect((await request("us-east-1")).status).toBe(200);
    expect(await (await request("eu-west-1")).text()).toContain("The specified queue does not exist.");
  }
});

it("remembers a bounded number of queues, the latest ones", () => {
  const known = new KnownQueues();
  for (let i = 0; i <= KNOWN_QUEUES_MAX; i++) known.note(recordOf(`q${i}`, DEAD));
  expect(known.find("q0")).toBeUndefined();
  expect(known.find("q1")?.name).toBe("q1");
  expect(known.find(`q${KNOWN_QUEUES_MAX}`)?.name).toBe(`q${KNOWN_QUEUES_MAX}`);
});
