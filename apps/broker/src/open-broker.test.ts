import { readdirSync, readlinkSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { objectsFolder, openNodeBroker } from "../test/node-broker.ts";

const QUEUES = 12;

/** Files of a folder that this process has open (Linux). */
function openFilesIn(folder: string): string[] {
  return readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      const file = readlinkSync(`/proc/self/fd/${descriptor}`);
      return file.startsWith(folder) ? file : [];
    } catch {
      // The one that the folder was read by.
      return [];
    }
  });
}

describe.runIf(process.platform === "linux")("a queue that is deleted", () => {
  it("has none of its files open any more, and can be created again", async () => {
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
