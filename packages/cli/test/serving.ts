import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** Environment of a command in a folder without a project. */
export const ENV = { ...process.env, CI: "1", NO_COLOR: "1", WRANGLER_SEND_METRICS: "false" };
/** Options of a client of SQS for a broker without access keys. */
export const CLIENT = {
  region: "us-east-1",
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
};

/** Makes a folder that is deleted after the last test of the suite. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sluice-serving-")));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Calls an action of SQS without an SDK. */
export async function callSqs(endpoint: string, action: string, input: object) {
  const headers = { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` };
  const response = await fetch(endpoint, { method: "POST", headers, body: JSON.stringify(input) });
  const text = await response.text();
  const answer = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
  return { status: response.status, answer };
}
