import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { startBroker } from "./any-broker.ts";

const GUIDE = path.join(import.meta.dirname, "../../../docs/sns.md");
const [KEY, SECRET] = ["anybody", "anything"];

const hasCli = spawnSync("aws", ["--version"], { stdio: "ignore" }).status === 0;
if (!hasCli)
  console.warn("the AWS CLI is not installed: the lines of docs/sns.md are not run (apt install awscli)");

it.skipIf(!hasCli)("the first lines of docs/sns.md work unchanged, signed and checked", async () => {
  const { origin } = await startBroker({ SLUICE_AWS_ACCESS_KEYS: `${KEY}:${SECRET}` });
  const home = await mkdtemp(path.join(tmpdir(), "sluice-sns-cli-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const [, lines = ""] = /```sh\n(.*?)```/s.exec(await readFile(GUIDE, "utf8")) ?? [];
  expect(lines).toContain(`AWS_SECRET_ACCESS_KEY=${SECRET}`);
  const script = `set -e\n${lines.replaceAll("http://localhost:8787", origin)}`;
  const env = { PATH: process.env.PATH, HOME: home, AWS_PAGER: "", AWS_EC2_METADATA_DISABLED: "true" };
  const { stdout } = await promisify(execFile)("bash", ["-c", script], { env });
  expect(stdout).toContain('"TopicArn": "arn:aws:sns:us-east-1:000000000000:orders"');
  expect(stdout).toContain('"Body": "hello"');
});
