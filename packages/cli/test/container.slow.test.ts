import { execFile, spawnSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  CreateQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { HOLDER_FILE } from "@sluice/local/data/data-lock";
import getPort from "@sluice/protocol/test/free-port";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { buildImage, type Image, noImages } from "./container.ts";
import { CLIENT, callSqs, temporaryFolder } from "./serving.ts";

const why = noImages();
if (why !== null) console.warn(`the container image is not built, its tests are skipped: ${why}`);

const REPOSITORY = join(import.meta.dirname, "../../..");
const ACTIONS = join(REPOSITORY, "apps/broker/test/python/sqs_actions.py");
/** Limit for downloads and two builds on a busy machine, in ms. */
const BUILD_MS_MAX = 600_000;
/**
 * Most processor time from the start of a container until it answers its health check, in ms. It takes 0.9 s on a busy
 * machine.
 */
const READY_CPU_MS_MAX = 1_500;
/** Key and secret in the lines of docs/sns.md. */
const [KEY, SECRET] = ["anybody", "anything"];
const run = promisify(execFile);

/** Lists those of the programs that run here. */
const installed = (names: readonly string[], check: readonly string[]) =>
  names.filter((name) => spawnSync(name, check, { stdio: "ignore" }).status === 0);
const pythons = installed(["/usr/bin/python3", "python3"], ["-c", "import boto3"]);
const clis = installed(["/usr/bin/aws", "aws"], ["--version"]);

/** Processor time of a process so far, in ms. Linux counts it in hundredths of a second. */
function cpuMsOf(pid: number): number {
  const [, after = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const fields = after.split(" ");
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** Starts the container until it says that it is ready. */
async function start(image: Image, vars: Readonly<Record<string, string>> = {}, ...args: string[]) {
  const port = await getPort();
  const running = image.run({ ...vars, EDGE_PORT: `${port}` }, args);
  onTestFinished(() => void running.stop("SIGKILL"));
  await running.printed(/Ready\./);
  return { running, port, endpoint: `http://127.0.0.1:${port}` };
}

describe.skipIf(why !== null)("the container image (skipped where buildah is not there, or root)", () => {
  let image: Image;
  beforeAll(() => {
    image = buildImage();
  }, BUILD_MS_MAX);
  afterAll(() => image?.remove());

  it("has one port, one volume, and a user that is not root", async () => {
    expect(image.settings).toMatchObject({
      User: "1000:1000",
      ExposedPorts: { "4566/tcp": {} },
      Volumes: { "/data": {} },
    });
    const { running } = await start(image);
    expect(readFileSync(`/proc/${running.pid}/status`, "utf8")).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m);
    expect(await running.stop("SIGTERM")).toBe(0);
  });

  it("is ready with little processor time, at its cheapest of three starts", async () => {
    const tookMs: number[] = [];
    for (let i = 0; i < 3; i++) {
      const { running, endpoint } = await start(image);
      expect((await fetch(`${endpoint}/__sluice/health`)).status).toBe(200);
      tookMs.push(cpuMsOf(running.pid));
      await running.stop("SIGTERM");
    }
    expect(Math.min(...tookMs)).toBeLessThan(READY_CPU_MS_MAX);
    // A process that has not run would be cheap, too.
    expect(Math.min(...tookMs)).toBeGreaterThan(READY_CPU_MS_MAX / 10);
  });

  it("keeps queues and messages over its end by SIGTERM, for the AWS SDK", async () => {
    const first = await start(image);
    const sqs = new SQSClient({ endpoint: first.endpoint, ...CLIENT });
    await sqs.send(new CreateQueueCommand({ QueueName: "kept" }));
    await sqs.send(
      new SendMessageCommand({ QueueUrl: `${first.endpoint}/000000000000/kept`, MessageBody: "kept" }),
    );
    expect(await first.running.stop("SIGTERM")).toBe(0);
    const second = await start(image);
    const again = new SQSClient({ endpoint: second.endpoint, ...CLIENT });
    const QueueUrl = `${second.endpoint}/000000000000/kept`;
    const { Messages } = await again.send(new ReceiveMessageCommand({ QueueUrl }));
    expect(Messages?.map(({ Body }) => Body)).toEqual(["kept"]);
    expect(await second.running.stop("SIGTERM")).toBe(0);
  });

  it.skipIf(pythons.length === 0).each(pythons)(
    "lets boto3 of %s use every action of SQS that it knows, with a key",
    async (python) => {
      const { running, endpoint } = await start(image, { SLUICE_AWS_ACCESS_KEYS: `${KEY}:${SECRET}` });
      const { stdout } = await run(python, [ACTIONS, `${endpoint}/__sluice/aws`, KEY, SECRET]);
      const { used, known } = JSON.parse(stdout) as { used: string[]; known: string[] };
      expect(used).toEqual(known);
      expect(await running.stop("SIGTERM")).toBe(0);
    },
  );

  it.skipIf(clis.length === 0)(
    "runs the first lines of docs/sns.md, topic to queue, by the AWS CLI",
    async () => {
      const { endpoint } = await start(image);
      const [, lines = ""] =
        /```sh\n(.*?)```/s.exec(readFileSync(join(REPOSITORY, "docs/sns.md"), "utf8")) ?? [];
      expect(lines).toContain("http://localhost:8787");
      const script = `set -e\n${lines.replaceAll("http://localhost:8787", endpoint)}`;
      const home = temporaryFolder();
      const env = { PATH: process.env.PATH, HOME: home, AWS_PAGER: "", AWS_EC2_METADATA_DISABLED: "true" };
      const { stdout } = await run("bash", ["-c", script], { env });
      expect(stdout).toContain('"Body": "hello"');
    },
  );

  it("is healthy while it runs, and unhealthy when it has ended", async () => {
    const { running, port } = await start(image);
    const [kind, ...check] = image.settings.Healthcheck.Test;
    expect(kind).toBe("CMD");
    const health = () => image.run({ EDGE_PORT: `${port}` }, check, []).ended;
    expect(await health()).toBe(0);
    expect(await running.stop("SIGTERM")).toBe(0);
    expect(await health()).toBe(1);
  });

  it("leads the commands in it to its broker at another port, as the first administrator", async () => {
    const SLUICE_API_TOKENS = "first, second";
    const { running, port } = await start(image, { SLUICE_API_TOKENS });
    const vars = { SLUICE_API_TOKENS, EDGE_PORT: `${port}` };
    const inside = (...args: string[]) => image.run(vars, args, ["sluice"]);
    expect(await inside("queues", "create", "orders").ended).toBe(0);
    const list = inside("queues", "list");
    expect(await list.ended).toBe(0);
    expect(list.output).toMatch(/^orders /m);
    // No address but its own gets the token.
    expect(await inside("queues", "list", "--url", `http://localhost:${port}`).ended).not.toBe(0);
    expect(await running.stop("SIGTERM")).toBe(0);
  });

  it.each(["abc", "", "0", "65536", "4566x"])("refuses EDGE_PORT %j by its name", async (EDGE_PORT) => {
    const running = image.run({ EDGE_PORT });
    expect(await running.ended).toBe(2);
    expect(running.output).toMatch(/^EDGE_PORT must be a port, from 1 to 65535, and is /);
  });

  it.each([["--port=4700"], ["--port", "4700"]])(
    "refuses %s, which EDGE_PORT stands for",
    async (...args) => {
      const running = image.run({}, args);
      expect(await running.ended).toBe(2);
      expect(running.output).toBe("In the container EDGE_PORT sets the port, in the place of --port.\n");
    },
  );

  it("is open until there are keys, and closed by them, the admin API too", async () => {
    const open = await start(image);
    expect((await callSqs(open.endpoint, "ListQueues", {})).status).toBe(200);
    expect((await fetch(`${open.endpoint}/__sluice/api/queues`)).status).toBe(200);
    expect(await open.running.stop("SIGTERM")).toBe(0);
    const closed = await start(image, { SLUICE_AWS_ACCESS_KEYS: `${KEY}:${SECRET}` });
    expect((await callSqs(closed.endpoint, "ListQueues", {})).status).toBe(403);
    expect((await fetch(`${closed.endpoint}/__sluice/api/queues`)).status).toBe(401);
    expect(await closed.running.stop("SIGTERM")).toBe(0);
  });

  it("ends its start with the line that LocalStack's Testcontainers modules for Java, Python and Node.js wait for", async () => {
    const { running, endpoint } = await start(image, {
      SERVICES: "sqs,s3:4572",
      AWS_DEFAULT_REGION: "eu-west-1",
    });
    const [warning = "", ...lines] = running.output.split(/(?<=\n)/);
    expect(warning).toContain("SERVICES names s3:4572, which is not here");
    // Java's module matches a whole line, Python's searches for its end.
    expect(lines.at(-1)).toMatch(/^.*Ready\.\n$/s);
    // The modules for Go and .NET ask this path.
    const health = await fetch(`${endpoint}/_localstack/health`);
    expect(await health.text()).toBe('{"services": {"sns": "available", "sqs": "available"}}');
    const { answer } = await callSqs(endpoint, "CreateQueue", { QueueName: "located" });
    const { QueueUrl } = answer;
    const asked = await callSqs(endpoint, "GetQueueAttributes", { QueueUrl, AttributeNames: ["QueueArn"] });
    expect(asked.answer.Attributes).toEqual({ QueueArn: "arn:aws:sqs:eu-west-1:000000000000:located" });
    expect(await running.stop("SIGTERM")).toBe(0);
  });

  it("starts by the script that LocalStack's Testcontainers module for Java copies into it", async () => {
    const script = "/testcontainers_start.sh";
    writeFileSync(
      join(image.root, script),
      '#!/bin/bash\nexport LAMBDA_DOCKER_FLAGS=""\n/usr/local/bin/docker-entrypoint.sh\n',
    );
    chmodSync(join(image.root, script), 0o777);
    const entry = ["sh", "-c", `while [ ! -f ${script} ]; do sleep 0.1; done; ${script}`];
    const port = await getPort();
    const running = image.run({ EDGE_PORT: `${port}` }, entry, []);
    await running.printed(/Ready\.\n/);
    const { pid } = JSON.parse(readFileSync(join(image.root, "data", HOLDER_FILE), "utf8")) as {
      pid: number;
    };
    onTestFinished(async () => {
      process.kill(pid, "SIGTERM");
      expect(await running.ended).toBe(0);
    });
    expect((await callSqs(`http://127.0.0.1:${port}`, "ListQueues", {})).status).toBe(200);
  });

  it("writes nothing but JSON with --log-format json", async () => {
    const { running } = await start(image, {}, "--log-format", "json");
    expect(await running.stop("SIGTERM")).toBe(0);
    const messages = running.output
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).message as string);
    expect(messages).toContain("Ready.");
  });
});
