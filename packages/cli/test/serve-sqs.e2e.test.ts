import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import {
  CreateQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { fuzz, remoteTarget } from "@sluice/fuzz";
import { HOLDER_FILE } from "@sluice/local/data/data-lock";
import getPort from "@sluice/protocol/test/free-port";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { eventually } from "./lab.ts";
import { type Running, sluice } from "./running.ts";
import { CLIENT, callSqs, ENV, temporaryFolder } from "./serving.ts";

/** A user with an SQS program, without Workers and without a wrangler.toml. */
describe("sluice serve in an empty folder", () => {
  const folder = temporaryFolder();
  const env: NodeJS.ProcessEnv = { ...ENV };
  let port: number;
  let running: Running;
  let endpoint = "";
  const serve = (...args: string[]) => sluice(["serve", "--port", `${port}`, ...args], folder, env);
  const start = async (...args: string[]) => {
    const started = serve(...args);
    const printed = await started.printed(/AWS_SECRET_ACCESS_KEY/);
    endpoint = /^export AWS_ENDPOINT_URL_SQS=(\S+)$/m.exec(printed)?.[1] ?? "";
    return started;
  };
  const call = (action: string, input: object) => callSqs(endpoint, action, input);

  beforeAll(async () => {
    port = await getPort();
    running = await start();
  });
  afterAll(() => running.stop());

  it("prints its endpoint and lines to copy, and has no queues", async () => {
    expect(endpoint).toBe(`http://127.0.0.1:${port}/__sluice/aws`);
    expect(running.output).toContain(`aws     ${endpoint}`);
    expect(running.output).toContain("export AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1\n");
    expect(running.output).toContain("export AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local\n");
    expect(await call("ListQueues", {})).toEqual({ status: 200, answer: {} });
  });

  it("answers at the root too, for clients that know only a host and the URL of a queue", async () => {
    const root = `http://127.0.0.1:${port}`;
    const { QueueUrl } = await new SQSClient({ endpoint: root, ...CLIENT }).send(
      new CreateQueueCommand({ QueueName: "root" }),
    );
    expect(QueueUrl).toBe(`${root}/000000000000/root`);
    // Without an endpoint the SDK posts to the root of the host in the queue's URL.
    const bare = new SQSClient(CLIENT);
    for (const url of [QueueUrl, `${endpoint}/000000000000/root`]) {
      await bare.send(new SendMessageCommand({ QueueUrl: url, MessageBody: "hello" }));
      const { Messages } = await bare.send(new ReceiveMessageCommand({ QueueUrl: url }));
      expect(Messages?.map(({ Body }) => Body)).toEqual(["hello"]);
    }
  });

  it("accepts messages of every size from many clients at a time", async () => {
    const { answer } = await call("CreateQueue", { QueueName: "sizes" });
    const { QueueUrl } = answer;
    const bodies = [1, 200, 65_000, 66_000, 1_048_576].map((bytes) => "é".repeat(bytes / 2) || "x");
    const sent = await Promise.all(
      bodies.map((MessageBody) => call("SendMessage", { QueueUrl, MessageBody })),
    );
    expect(sent.map(({ status }) => status)).toEqual(bodies.map(() => 200));
    const MessageBody = "é".repeat(524_289);
    expect(await call("SendMessage", { QueueUrl, MessageBody })).toMatchObject({ status: 400 });
    const many = Array.from({ length: 200 }, (_, i) =>
      call("SendMessage", { QueueUrl, MessageBody: `${i}` }),
    );
    const ids = (await Promise.all(many)).map((each) => each.answer.MessageId);
    expect(new Set(ids).size).toBe(200);
    const { answer: counted } = await call("GetQueueAttributes", { QueueUrl, AttributeNames: ["All"] });
    expect(counted.Attributes).toMatchObject({ ApproximateNumberOfMessages: "205" });
  });

  it("keeps no message for clients that stopped waiting", async () => {
    const { answer } = await call("CreateQueue", { QueueName: "left" });
    const { QueueUrl } = answer;
    const headers = {
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": "AmazonSQS.ReceiveMessage",
    };
    const body = JSON.stringify({ QueueUrl, WaitTimeSeconds: 20 });
    for (let round = 0; round < 20; round++) {
      const gone = Array.from({ length: 5 }, () => new AbortController());
      const waiting = gone.map(({ signal }) => fetch(endpoint, { method: "POST", headers, body, signal }));
      const ended = Promise.allSettled(waiting);
      // Some clients go before their receive begins, some while it waits, some during its answer.
      if (round % 2 === 0) await call("GetQueueUrl", { QueueName: "left" });
      const sending = call("SendMessage", { QueueUrl, MessageBody: `${round}` });
      for (const each of gone) each.abort();
      await Promise.all([ended, sending]);
      // A busy broker hears late that a client has gone which had the message.
      const { answer: received } = await call("ReceiveMessage", {
        QueueUrl,
        WaitTimeSeconds: 20,
        MessageSystemAttributeNames: ["ApproximateReceiveCount"],
      });
      const [message] = received.Messages as { Body: string; ReceiptHandle: string; Attributes: object }[];
      expect(message?.Body).toBe(`${round}`);
      await call("DeleteMessage", { QueueUrl, ReceiptHandle: message?.ReceiptHandle });
    }
  });

  it("answers every request in AWS's form, in time, and loses nothing", { tags: "slow" }, async () => {
    const seed = Number(process.env.SLUICE_FUZZ_SEED ?? 3);
    const report = await fuzz(remoteTarget(endpoint), { seed, requests: 300 });
    expect(report.kept).toBeGreaterThan(50);
    expect(report.succeeded.length).toBeGreaterThan(10);
  });

  it("refuses a second process on its data, of any command", async () => {
    for (const command of ["serve", "serve --port 0"]) {
      const second = sluice(command.split(" "), folder, env);
      expect(await second.ended).toBe(1);
      expect(second.output).toContain(
        `The data in ${join(folder, ".wrangler/state")} are in use by sluice serve (process ${running.pid}).`,
      );
    }
    const third = serve("--persist-to", "elsewhere");
    expect(await third.ended).toBe(1);
    expect(third.output).toContain(`127.0.0.1:${port} is in use by another process`);
    expect(existsSync(join(folder, "elsewhere", HOLDER_FILE))).toBe(false);
  });

  it("keeps messages over Ctrl-C and kill -9, after which the data are free again", async () => {
    const { answer } = await call("CreateQueue", { QueueName: "kept" });
    const { QueueUrl } = answer;
    await call("SendMessage", { QueueUrl, MessageBody: "one" });
    const { answer: empty } = await call("CreateQueue", { QueueName: "empty" });
    const waiting = Array.from({ length: 3 }, () =>
      call("ReceiveMessage", { QueueUrl: empty.QueueUrl, WaitTimeSeconds: 20 }),
    );
    // One receive that is answered: by then the others wait.
    await call("ReceiveMessage", { QueueUrl: empty.QueueUrl, WaitTimeSeconds: 0 });
    expect(await running.stop("SIGINT")).toBe(0);
    expect(running.output).not.toContain("failed");
    // The waiting receives end now, and each client gets an answer.
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => ({ status: 200, answer: {} })));
    expect(existsSync(join(folder, ".wrangler/state", HOLDER_FILE))).toBe(false);
    // Nothing is generated for a broker that no file configures.
    expect(existsSync(join(folder, ".sluice"))).toBe(false);
    running = await start();
    await call("SendMessage", { QueueUrl, MessageBody: "two" });
    expect(await running.stop("SIGKILL")).toBe("SIGKILL");
    running = await start();
    const received = await call("ReceiveMessage", { QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 5 });
    expect(received.answer).toMatchObject({ Messages: [{ Body: "one" }, { Body: "two" }] });
  });

  it("prints the line of --ready-line last, and from then on a signal ends it in order", async () => {
    const ready = sluice(
      ["serve", "--port", "0", "--persist-to", "ready", "--ready-line", "Ready."],
      folder,
      env,
    );
    await ready.printed(/^Ready\.\n$/m);
    expect(ready.output).toMatch(/\nReady\.\n$/);
    expect(await ready.stop("SIGTERM")).toBe(0);
  });

  it("accepts a profiler with --inspector-port, and does not wait for it at its end", {
    tags: "slow",
  }, async () => {
    await running.stop();
    const inspectorPort = await getPort();
    running = await start("--inspector-port", `${inspectorPort}`);
    const second = sluice(
      ["serve", ...["--port", "0"], ...["--persist-to", "elsewhere"], "--inspector-port", `${inspectorPort}`],
      folder,
      env,
    );
    expect(await second.ended).toBe(1);
    expect(second.output).toContain(
      `127.0.0.1:${inspectorPort} is in use by another process. Choose another port with --inspector-port.`,
    );
    const listed = (await (await fetch(`http://127.0.0.1:${inspectorPort}/json`)).json()) as {
      webSocketDebuggerUrl: string;
    }[];
    const profiler = new WebSocket(listed[0]?.webSocketDebuggerUrl ?? "");
    await once(profiler, "open");
    const ask = async (method: string) => {
      const answered = once(profiler, "message");
      profiler.send(JSON.stringify({ id: 1, method }));
      const [message] = (await answered) as [Buffer];
      return JSON.parse(message.toString()) as { result: { result?: Script[] } };
    };
    for (const method of ["Profiler.enable", "Profiler.startPreciseCoverage"]) await ask(method);
    await call("CreateQueue", { QueueName: "profiled" });
    const scripts = (await ask("Profiler.takePreciseCoverage")).result.result;
    const functions = scripts?.flatMap((script) => script.functions);
    const run = functions?.filter(({ ranges }) => ranges.some(({ count }) => count > 0));
    expect(run?.map(({ functionName }) => functionName)).toContain("readRequest");
    const left = once(profiler, "close");
    expect(await running.stop()).toBe(0);
    await left;
    running = await start();
  });

  it("applies the [sluice] table of a wrangler.toml without code", async () => {
    await running.stop();
    writeFileSync(
      join(folder, "wrangler.toml"),
      '[sluice.sns]\nclient_errors = "retry"\n[sluice.queues.slow]\nvisibility_timeout = 77\n',
    );
    running = await start();
    expect(running.output).not.toContain("[WARNING]");
    const url = `${endpoint}/000000000000/slow`;
    const { answer } = await call("GetQueueAttributes", { QueueUrl: url, AttributeNames: ["All"] });
    expect(answer.Attributes).toMatchObject({ VisibilityTimeout: "77" });

    const posts: string[] = [];
    const arrived = Promise.withResolvers<void>();
    const server = createServer(async (request, response) => {
      const { Message, SubscribeURL } = JSON.parse(await text(request)) as Record<string, string>;
      if (SubscribeURL !== undefined) await fetch(SubscribeURL);
      else posts.push(Message ?? "");
      response.writeHead(posts.length === 1 ? 404 : 200).end();
      if (posts.length === 2) arrived.resolve();
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
    const sns = (Action: string, input: Record<string, string>) =>
      fetch(endpoint, {
        method: "POST",
        body: new URLSearchParams({ Action, Version: "2010-03-31", ...input }),
      });
    const atOnce = { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 1, numNoDelayRetries: 1 };
    const TopicArn = "arn:aws:sns:us-east-1:000000000000:orders";
    await sns("CreateTopic", { Name: "orders" });
    await sns("Subscribe", {
      TopicArn,
      Protocol: "http",
      Endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
      "Attributes.entry.1.key": "DeliveryPolicy",
      "Attributes.entry.1.value": JSON.stringify({ healthyRetryPolicy: atOnce }),
    });
    await eventually(async () => {
      const attributes = await sns("GetTopicAttributes", { TopicArn });
      return /<key>SubscriptionsConfirmed<\/key><value>(\d)/.exec(await attributes.text())?.[1];
    }, "1");
    await sns("Publish", { TopicArn, Message: "hello" });
    await arrived.promise;
    expect(posts).toEqual(["hello", "hello"]);
  });

  it("uses the keys and the region of its environment", async () => {
    expect(await running.stop()).toBe(0);
    Object.assign(env, { SLUICE_AWS_ACCESS_KEYS: "AKIA:secret", SLUICE_AWS_REGION: "eu-west-1" });
    running = await start();
    expect(running.output).toContain(
      "AWS_REGION=eu-west-1 AWS_DEFAULT_REGION=eu-west-1\nexport AWS_ACCESS_KEY_ID=KEY AWS_SECRET_ACCESS_KEY=SECRET",
    );
    expect(running.output).not.toContain("AKIA");
    const { status, answer } = await call("ListQueues", {});
    expect([status, answer.__type]).toEqual([403, expect.stringContaining("MissingAuthenticationToken")]);
  });

  it("closes its other APIs too once it needs keys, unless SLUICE_ENV opens it, and says so", async () => {
    const statuses = async () => {
      const paths = ["/api/queues", "/metrics", "/client/v4/accounts/a/queues", "/health"];
      const all = paths.map(async (path) => (await fetch(`http://127.0.0.1:${port}/__sluice${path}`)).status);
      return Promise.all(all);
    };
    expect(running.output).toMatch(
      /AWS endpoint +who signs with one of SLUICE_AWS_ACCESS_KEYS, or one that the broker keeps\n/,
    );
    expect(running.output).toMatch(
      /REST and admin API, metrics +nobody but who brings a token that the broker keeps .+; set SLUICE_API_TOKENS, or SLUICE_ENV=local/,
    );
    expect(await statuses()).toEqual([401, 401, 401, 200]);
    expect(await running.stop()).toBe(0);
    Object.assign(env, { SLUICE_ENV: "local" });
    running = await start();
    await running.printed(/REST and admin API, metrics +every program of this machine\n/);
    expect(await statuses()).toEqual([200, 200, 200, 200]);
    expect((await call("ListQueues", {})).status).toBe(403);
  });

  it("is closed behind a proxy except to its own tokens, says so, and stops under its own name", async () => {
    const api = (path: string, options: RequestInit = {}) =>
      fetch(`http://127.0.0.1:${port}/__sluice/api${path}`, options);
    const body = JSON.stringify({ name: "kept", scopes: ["admin"] });
    const made = await api("/tokens", {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    });
    const { secret } = (await made.json()) as { secret: string };
    const headers = { authorization: `Bearer ${secret}` };
    expect(await running.stop()).toBe(0);
    Object.assign(env, { SLUICE_PUBLIC_URL: "https://queues.example.com" });
    for (const name of ["SLUICE_ENV", "SLUICE_AWS_ACCESS_KEYS"]) Reflect.deleteProperty(env, name);
    running = await start();
    await running.printed(/A proxy leads others here[\s\S]+called at public addresses/);
    expect((await api("/queues")).status).toBe(401);
    const aws = `http://127.0.0.1:${port}/__sluice/aws/`;
    expect((await callSqs(aws, "ListQueues", {})).status).toBe(403);
    expect((await api("/queues", { headers })).status).toBe(200);
    expect(await running.stop()).toBe(0);
    running = await start();
    const { entries } = (await (await api("/audit", { headers })).json()) as { entries: unknown[] };
    expect(entries[0]).toMatchObject({ action: "broker.stop", by: "process" });
  });
});

/** Coverage of a script that ran, as a profiler reports it. */
interface Script {
  readonly functions: readonly {
    readonly functionName: string;
    readonly ranges: readonly { readonly count: number }[];
  }[];
}
