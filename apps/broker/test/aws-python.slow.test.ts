import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { startSharedBroker } from "./any-broker.ts";

/*
 * boto3 and the AWS CLI of the machine: Debian's speak the Query protocol, newer ones AWS JSON. Every request is
 * signed, and the broker checks it.
 */

const [KEY, SECRET] = ["AKIAEXAMPLE", "one/secret+of=40"];
const ACTIONS = path.join(import.meta.dirname, "python/sqs_actions.py");
const run = promisify(execFile);

/** Finds programs of these names, each once: Debian's own, and the first on the PATH. */
function installed(names: readonly string[], check: readonly string[]): string[] {
  const works = names.filter((name) => spawnSync(name, check, { stdio: "ignore" }).status === 0);
  const places = works.map((name) => spawnSync("which", [name], { encoding: "utf8" }).stdout.trim());
  return [...new Set(places)];
}

const pythons = installed(["/usr/bin/python3", "python3"], ["-c", "import boto3"]);
const clis = installed(["/usr/bin/aws", "aws"], ["--version"]);
if (pythons.length === 0)
  console.warn("boto3 is not installed: its tests are skipped (apt install python3-boto3)");
if (clis.length === 0)
  console.warn("the AWS CLI is not installed: its tests are skipped (apt install awscli)");

let endpoint: string;
let home: string;

beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "sluice-aws-"));
  const bindings = { SLUICE_AWS_ACCESS_KEYS: `${KEY}:${SECRET}`, SLUICE_ENV: "development" };
  const broker = await startSharedBroker(bindings);
  endpoint = `${broker.origin}/__sluice/aws`;
  return async () => {
    await broker.dispose();
    await rm(home, { recursive: true, force: true });
  };
});

describe.skipIf(pythons.length === 0)("boto3 (skipped where it is not installed)", () => {
  it.each(pythons)(
    "of %s can use every action that it knows, with its own classes of errors",
    async (python) => {
      const { stdout } = await run(python, [ACTIONS, endpoint, KEY, SECRET]);
      const { used, known } = JSON.parse(stdout) as { used: string[]; known: string[] };
      expect(used).toEqual(known);
      expect(known.length).toBeGreaterThanOrEqual(20);
    },
  );
});

describe.skipIf(clis.length === 0)("the AWS CLI (skipped where it is not installed)", () => {
  it.each(clis)("of %s sends, receives, lists and shows refusals", async (cli) => {
    const queue = `cli-${clis.indexOf(cli)}`;
    const env = {
      PATH: process.env.PATH,
      HOME: home,
      AWS_ACCESS_KEY_ID: KEY,
      AWS_SECRET_ACCESS_KEY: SECRET,
      AWS_DEFAULT_REGION: "us-east-1",
      AWS_PAGER: "",
      AWS_EC2_METADATA_DISABLED: "true",
    };
    const sqs = async (...args: string[]) =>
      (await run(cli, ["--endpoint-url", endpoint, "sqs", ...args], { env })).stdout.trim();
    const text = (query: string) => ["--query", query, "--output", "text"];
    const url = await sqs("create-queue", "--queue-name", queue, ...text("QueueUrl"));
    expect(url).toBe(`${endpoint}/000000000000/${queue}`);
    const attributes = path.join(home, "attributes.json");
    await writeFile(attributes, '{"Bytes": {"DataType": "Binary", "BinaryValue": "AP8="}}');
    const [sentMd5] = await Promise.all([
      sqs(
        ...["send-message", "--queue-url", url, "--message-body", "from the shell"],
        ...["--message-attributes", `file://${attributes}`, ...text("MD5OfMessageBody")],
      ),
      sqs("list-queues", "--queue-name-prefix", "cli", "--max-items", "1", ...text("QueueUrls[0]")),
    ]);
    expect(sentMd5).toBe("985b5bdc839c7d86d1177014a93208d5");
    const received = JSON.parse(
      await sqs(
        ...["receive-message", "--queue-url", url, "--wait-time-seconds", "5"],
        ...["--message-attribute-names", "All", "--attribute-names", "All", "--output", "json"],
      ),
    );
    expect(received.Messages).toMatchObject([
      { Body: "from the shell", Attributes: { ApproximateReceiveCount: "1" } },
    ]);
    const refusal = sqs("send-message", "--queue-url", `${url}-none`, "--message-body", "x");
    await expect(refusal).rejects.toThrow("(AWS.SimpleQueueService.NonExistentQueue)");
  });
});
