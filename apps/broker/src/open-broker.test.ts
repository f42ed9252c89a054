import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openBroker } from "./open-broker.ts";

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
    const folder = mkdtempSync(join(tmpdir(), "sluice-open-broker-"));
    const { gateway, close } = openBroker({
      ...{ folder, worker: "sluice", topology: { queues: {} } },
      vars: { SLUICE_ENV: "local" },
    });
    onTestFinished(() => {
      close();
      rmSync(folder, { recursive: true, force: true });
    });
    const call = async (action: string, input: object) => {
      const headers = { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` };
      const body = JSON.stringify(input);
      const request = new Request("http://127.0.0.1/__sluice/aws/", { method: "POST", headers, body });
      const response = await gateway.fetch(request);
      if (!response.ok) throw new Error(await response.text());
      const text = await response.text();
      return (text === "" ? {} : JSON.parse(text)) as { QueueUrl: string; Messages?: { Body: string }[] };
    };
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
