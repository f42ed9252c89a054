import { readdirSync, readlinkSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { objectsFolder, openNodeBroker } from "../../../apps/broker/test/node-broker.ts";

const QUEUES = 12;

function openFilesIn(folder: string): string[] {
  return readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      const file = readlinkSync(`/proc/self/fd/${descriptor}`);
      return file.startsWith(folder) ? file : [];
    } catch {
      // The descriptor that the folder was read by.
      return [];
    }
  });
}

describe.runIf(process.platform === "linux")("a queue that is deleted", () => {
  it("has no open files any more, and can be created again", async () => {
    vi.spyOn(console, "log").mockImplementation(() => {});
    const folder = objectsFolder();
    const { call } = openNodeBroker(folder);
    const live = async (name: string) => {
      const { QueueUrl } = await call("CreateQueue", { QueueName: name });
      await call("SendMessage", { QueueUrl, MessageBody: name });
      return QueueUrl;
    };
    const kept = await live("kept");
    const before = openFilesIn(folder).length;
    for (let i = 0; i < QUEUES; i++) await call("DeleteQueue", { QueueUrl: await live(`brief-${i}`) });
    await vi.waitFor(async () => {
      await turn();
      expect(openFilesIn(folder)).toHaveLength(before);
    });
    const QueueUrl = await live("brief-0");
    expect((await call("ReceiveMessage", { QueueUrl })).Messages).toMatchObject([{ Body: "brief-0" }]);
    expect((await call("ReceiveMessage", { QueueUrl: kept })).Messages).toMatchObject([{ Body: "kept" }]);
  });
});

describe("a broker whose disk is full", () => {
  it("accepts nothing from senders or other queues, delivers and deletes, and loses nothing", async () => {
    vi.spyOn(console, "log").mockImplementation(() => {});
    const disk = { isFull: false, foundFull: () => false };
    const { call } = openNodeBroker(objectsFolder(), { queues: {} }, disk);
    const dead = await call("CreateQueue", { QueueName: "dead" });
    const RedrivePolicy = JSON.stringify({
      deadLetterTargetArn: "arn:aws:sqs:us-east-1:000000000000:dead",
      maxReceiveCount: 1,
    });
    const { QueueUrl } = await call("CreateQueue", { QueueName: "q", Attributes: { RedrivePolicy } });
    for (const MessageBody of ["poison", "good"]) await call("SendMessage", { QueueUrl, MessageBody });
    disk.isFull = true;
    await expect(call("SendMessage", { QueueUrl, MessageBody: "more" })).rejects.toThrow(
      "Queue storage limit exceeded",
    );
    const { Messages = [] } = await call("ReceiveMessage", {
      QueueUrl,
      MaxNumberOfMessages: 2,
      VisibilityTimeout: 0,
    });
    expect(Messages.map(({ Body }) => Body).sort()).toEqual(["good", "poison"]);
    const good = Messages.find(({ Body }) => Body === "good");
    await call("DeleteMessage", { QueueUrl, ReceiptHandle: good?.ReceiptHandle });
    // The message was received too often, and stays while its dead-letter queue accepts nothing.
    expect((await call("ReceiveMessage", { QueueUrl })).Messages).toBeUndefined();
    expect((await call("ReceiveMessage", { QueueUrl: dead.QueueUrl })).Messages).toBeUndefined();
    disk.isFull = false;
    const receive = { QueueUrl: dead.QueueUrl, WaitTimeSeconds: 20 };
    expect((await call("ReceiveMessage", receive)).Messages).toMatchObject([{ Body: "poison" }]);
  });
});
