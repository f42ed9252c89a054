import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBroker } from "@sluice/broker-worker/open-broker";
import type { Disk } from "@sluice/objects";
import type { QueueTopology } from "@sluice/protocol";
import { onTestFinished } from "vitest";

/** Name of the broker's Worker. */
export const WORKER = "sluice";

/** Makes a folder for the objects of a test. */
export function objectsFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sluice-open-broker-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Members of SQS's answers that tests read. */
export interface SqsAnswer {
  readonly QueueUrl: string;
  readonly QueueUrls?: readonly string[];
  readonly Attributes?: Readonly<Record<string, string>>;
  readonly Tags?: Readonly<Record<string, string>>;
  readonly Messages?: readonly { readonly Body: string; readonly ReceiptHandle: string }[];
}

/** Opens a broker in this process on the files of a folder, with a client of its SQS, until the end of the test. */
export function openNodeBroker(folder: string, topology: QueueTopology = { queues: {} }, disk?: Disk) {
  const vars = { SLUICE_ENV: "local" };
  const watched = disk === undefined ? {} : { disk };
  const broker = openBroker({ folder, worker: WORKER, topology, vars, ...watched });
  let isOpen = true;
  const close = () => {
    if (isOpen) broker.close();
    isOpen = false;
  };
  onTestFinished(close);
  const call = async (action: string, input: object): Promise<SqsAnswer> => {
    const headers = { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` };
    const body = JSON.stringify(input);
    const request = new Request("http://127.0.0.1/__sluice/aws/", { method: "POST", headers, body });
    const response = await broker.gateway.fetch(request);
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return (text === "" ? {} : JSON.parse(text)) as SqsAnswer;
  };
  return { call, close };
}
