import { request } from "node:http";
import { beforeAll, describe, expect, it } from "vitest";
import { startSharedBroker } from "./any-broker.ts";

interface SqsOutput {
  readonly Messages?: readonly { readonly Body: string; readonly ReceiptHandle: string }[];
  readonly QueueUrl?: string;
  readonly Failed?: readonly unknown[];
  readonly Attributes?: Readonly<Record<string, string>>;
}

/** Requests of many clients share calls to a queue's object in real workerd, where each belongs to its own request. */
describe("SQS requests of many clients at once", () => {
  let endpoint: string;

  beforeAll(async () => {
    const broker = await startSharedBroker({ SLUICE_ENV: "local" });
    endpoint = `${broker.origin}/__sluice/aws`;
    return broker.dispose;
  });

  const post = (action: string, input: object) =>
    fetch(endpoint, {
      method: "POST",
      headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` },
      body: JSON.stringify(input),
    });
  const call = async (action: string, input: object): Promise<SqsOutput> => {
    const response = await post(action, input);
    const text = await response.text();
    if (!response.ok) throw new Error(`${action}: ${text}`);
    return JSON.parse(text) as SqsOutput;
  };
  const create = async (QueueName: string) => (await call("CreateQueue", { QueueName })).QueueUrl ?? "";

  /** Sends a message and hangs up as soon as the request is written; resolves then. */
  const sendAndHangUp = (QueueUrl: string, MessageBody: string) =>
    new Promise<void>((resolve) => {
      const headers = {
        "content-type": "application/x-amz-json-1.0",
        "x-amz-target": "AmazonSQS.SendMessage",
      };
      const sending = request(endpoint, { method: "POST", headers });
      sending.on("error", () => {});
      sending.on("close", () => resolve());
      sending.end(JSON.stringify({ QueueUrl, MessageBody }), () => setImmediate(() => sending.destroy()));
    });

  /** Receives and deletes, ten receivers at once, until nothing is left; returns the bodies. */
  const drain = async (QueueUrl: string): Promise<string[]> => {
    const bodies: string[] = [];
    const receiver = async () => {
      for (;;) {
        const { Messages = [] } = await call("ReceiveMessage", { QueueUrl, MaxNumberOfMessages: 10 });
        if (Messages.length === 0) return;
        bodies.push(...Messages.map(({ Body }) => Body));
        const Entries = Messages.map(({ ReceiptHandle }, i) => ({ Id: `${i}`, ReceiptHandle }));
        expect((await call("DeleteMessageBatch", { QueueUrl, Entries })).Failed).toBeUndefined();
      }
    };
    await Promise.all(Array.from({ length: 10 }, receiver));
    return bodies;
  };

  it("each get their own answer, and every message is received once", async () => {
    const QueueUrl = await create("many");
    const bodies = Array.from({ length: 400 }, (_, i) => `message ${i}`);
    await Promise.all(bodies.map((MessageBody) => call("SendMessage", { QueueUrl, MessageBody })));
    expect((await drain(QueueUrl)).sort()).toEqual(bodies.toSorted());
  });

  it("are answered when others hang up, and no acknowledged message is lost", async () => {
    const QueueUrl = await create("rude");
    const kept: Promise<SqsOutput>[] = [];
    const gone: Promise<void>[] = [];
    for (let i = 0; i < 200; i++) {
      gone.push(sendAndHangUp(QueueUrl, `rude ${i}`));
      kept.push(call("SendMessage", { QueueUrl, MessageBody: `kept ${i}` }));
    }
    await Promise.all([...kept, ...gone]);
    // The queue goes on with all acknowledged messages, and with those of clients that hung up if they arrived.
    await call("SendMessage", { QueueUrl, MessageBody: "after" });
    const bodies = await drain(QueueUrl);
    expect(new Set(bodies).size).toBe(bodies.length);
    const acknowledged = ["after", ...kept.map((_, i) => `kept ${i}`)];
    expect(bodies.filter((body) => !body.startsWith("rude")).sort()).toEqual(acknowledged.sort());
  });

  it("see the current state of a queue, although it is cached", async () => {
    const QueueUrl = await create("changing");
    const MessageBody = "x".repeat(2_000);
    const send = async () => (await post("SendMessage", { QueueUrl, MessageBody })).status;
    const limit = (MaximumMessageSize: string) =>
      call("SetQueueAttributes", { QueueUrl, Attributes: { MaximumMessageSize } });
    expect(await send()).toBe(200);
    await limit("1024");
    expect(await Promise.all([send(), send(), send()])).toEqual([400, 400, 400]);
    await limit("2048");
    expect(await Promise.all([send(), send(), send()])).toEqual([200, 200, 200]);
    await call("DeleteQueue", { QueueUrl });
    for (const action of ["SendMessage", "ReceiveMessage"]) {
      const refused = await post(action, { QueueUrl, ...(action === "SendMessage" ? { MessageBody } : {}) });
      expect([action, refused.status, await refused.text()]).toEqual([
        action,
        400,
        expect.stringContaining("QueueDoesNotExist"),
      ]);
    }
    await create("changing");
    expect(await drain(QueueUrl)).toEqual([]);
    expect(await send()).toBe(200);
  });
});
