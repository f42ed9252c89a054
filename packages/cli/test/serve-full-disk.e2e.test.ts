import { join } from "node:path";
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
  SQSServiceException,
} from "@aws-sdk/client-sqs";
import { mountSmallDisk } from "@sluice/local/test/small-disk";
import getPort from "@sluice/protocol/test/free-port";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Running, sluice } from "./running.ts";
import { CLIENT, ENV, temporaryFolder } from "./serving.ts";

const disk = mountSmallDisk();
if (disk === null) console.warn("A disk cannot be mounted here, which needs root: a full one is not tested.");

/** Bytes of a body: several fill a commit, many the disk. */
const FILLER = "x".repeat(20_000);
const ATTEMPTS = 3;

describe.runIf(disk !== null)("sluice serve on a disk that is full", () => {
  const folder = temporaryFolder();
  let running: Running;
  let client: SQSClient;
  let QueueUrl = "";
  const stored = new Set<string>();
  const failures: unknown[] = [];

  /** Sends a message as a program does, and records the outcome. */
  const send = async (name: string): Promise<boolean> => {
    try {
      await client.send(new SendMessageCommand({ QueueUrl, MessageBody: `${name} ${FILLER}` }));
      stored.add(name);
      return true;
    } catch (error) {
      failures.push(error);
      return false;
    }
  };

  beforeAll(async () => {
    const port = await getPort();
    const state = join(disk?.folder ?? "", "state");
    running = sluice(["serve", "--port", `${port}`, "--persist-to", state], folder, ENV);
    const printed = await running.printed(/AWS_SECRET_ACCESS_KEY/);
    client = new SQSClient({
      endpoint: /^export AWS_ENDPOINT_URL_SQS=(\S+)$/m.exec(printed)?.[1] ?? "",
      ...CLIENT,
      maxAttempts: ATTEMPTS,
    });
    const made = await client.send(new CreateQueueCommand({ QueueName: "full" }));
    QueueUrl = made.QueueUrl ?? "";
  });
  afterAll(async () => {
    client?.destroy();
    await running?.stop();
    disk?.unmount();
  });

  it("fails in a way that SDKs retry, loses nothing acknowledged, and recovers when there is room", async () => {
    for (let i = 0; i < 20; i++) expect(await send(`before ${i}`)).toBe(true);
    disk?.fill();
    // Free pages within the existing files are used up first.
    for (let i = 0; failures.length < 5; i++) await send(`full ${i}`);
    for (const failure of failures) {
      expect(failure).toBeInstanceOf(SQSServiceException);
      expect(failure).toMatchObject({ $fault: "server", $metadata: { attempts: ATTEMPTS } });
      expect((failure as SQSServiceException).name).toMatch(
        /^(ServiceUnavailable(Exception)?|InternalFailure)$/,
      );
    }
    const texts = failures.map((failure) => (failure as Error).message);
    expect(texts).toContain("Queue storage limit exceeded: its disk or its database is full.");

    disk?.giveRoom();
    const deadlineMs = Date.now() + 30_000;
    for (let i = 0; !(await send(`after ${i}`)); i++) expect(Date.now()).toBeLessThan(deadlineMs);

    const missing = new Set(stored);
    while (missing.size > 0) {
      const receive = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 20 });
      const { Messages = [] } = await client.send(receive);
      // Longer than any visibility timeout: a message that has not come by now is lost.
      expect(Messages, `missing: ${[...missing].join(", ")}`).not.toEqual([]);
      for (const { Body = "" } of Messages) missing.delete(Body.slice(0, Body.indexOf(" x")));
      const Entries = Messages.map(({ ReceiptHandle }, i) => ({ Id: `${i}`, ReceiptHandle }));
      await client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    }
    const attributes = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] });
    const left = (await client.send(attributes)).Attributes ?? {};
    expect(Number(left.ApproximateNumberOfMessagesNotVisible)).toBe(0);
  });
});
