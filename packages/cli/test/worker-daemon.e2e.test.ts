import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import {
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import getPort from "@sluice/protocol/test/free-port";
import express from "express";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "./lab.ts";
import { type Running, sluice } from "./running.ts";
import { CLIENT, ENV, temporaryFolder } from "./serving.ts";

interface Request {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An ordinary web application beside the daemon: no Worker, no configuration file, jobs from an AWS SDK. */
describe("sluice worker-daemon", () => {
  const folder = temporaryFolder();
  const requests: Request[] = [];
  /** Statuses that the application answers with, one after the other, by body. */
  const answers = new Map<string, number[]>();
  /** Promises that the application waits for before it answers, by body. */
  const held = new Map<string, Promise<void>>();
  const app = express()
    .use(express.text({ type: () => true }))
    .post(["/jobs", "/tasks/sweep"], async (request, response) => {
      const body = typeof request.body === "string" ? request.body : "";
      requests.push({ path: request.path, headers: request.headers, body });
      await held.get(body);
      response.sendStatus(answers.get(body)?.shift() ?? 200);
    });
  const server = createServer(app);
  let port: number;
  let running: Running;
  let sqs: SQSClient;
  const queueUrl = (queue: string) => `http://127.0.0.1:${port}/__sluice/aws/000000000000/${queue}`;
  const send = (MessageBody: string, more = {}) =>
    sqs.send(new SendMessageCommand({ QueueUrl: queueUrl("jobs"), MessageBody, ...more }));
  const requestsOf = (body: string) => requests.filter((request) => request.body === body);
  const start = async () => {
    const options = [
      "VisibilityTimeout=5",
      "ErrorVisibilityTimeout=0",
      "MaxRetries=3",
      "HttpConnections=4",
      "HttpPath=/jobs",
    ];
    const application = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const args = ["--queue", "jobs", "--url", application, "--port", `${port}`, "--persist-to", "state"];
    args.push("--cron", "cron.yaml", "--cron-overlap", "skip");
    const started = sluice(
      ["worker-daemon", ...args, ...options.flatMap((option) => ["--option", option])],
      folder,
      // Development: the test moves the clock instead of waiting for a minute.
      { ...ENV, SLUICE_ENV: "development" },
    );
    await started.printed(/data {4}/);
    return started;
  };

  beforeAll(async () => {
    writeFileSync(
      join(folder, "cron.yaml"),
      'version: 1\ncron:\n  - { name: sweep, url: /tasks/sweep, schedule: "* * * * *" }\n',
    );
    await once(server.listen(0, "127.0.0.1"), "listening");
    port = await getPort();
    running = await start();
    sqs = new SQSClient({ endpoint: `http://127.0.0.1:${port}/__sluice/aws`, ...CLIENT });
  });
  afterAll(async () => {
    sqs.destroy();
    await running.stop();
    server.closeAllConnections();
    server.close();
  });

  it("prints where to send jobs, and where they go", () => {
    expect(running.output).toContain(`sqs     http://127.0.0.1:${port}/__sluice/aws`);
    expect(running.output).toContain(queueUrl("jobs"));
    expect(running.output).toContain("4 at a time");
    expect(running.output).toContain('3 receives until "jobs-dead"');
  });

  it("posts a job as Elastic Beanstalk's daemon does, for applications that check it", async () => {
    const { MessageId } = await send('{"job_class":"Mail"}', {
      MessageAttributes: { Origin: { DataType: "String", StringValue: "AEJ" } },
    });
    await eventually(async () => requestsOf('{"job_class":"Mail"}').length, 1);
    const [request] = requestsOf('{"job_class":"Mail"}');
    expect(request?.path).toBe("/jobs");
    expect(request?.headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": expect.stringMatching(/^aws-sqsd\//),
      "x-aws-sqsd-msgid": MessageId,
      "x-aws-sqsd-queue": "jobs",
      "x-aws-sqsd-path": "/jobs",
      "x-aws-sqsd-receive-count": "1",
      "x-aws-sqsd-first-received-at": expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      "x-aws-sqsd-sent-at": expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      "x-aws-sqsd-sender-id": "000000000000",
      "x-aws-sqsd-attr-origin": "AEJ",
    });
    expect(request?.headers).not.toHaveProperty("x-aws-sqsd-taskname");
  });

  it("posts a periodic task to its path at its minute, without a body", async () => {
    expect(running.output).toContain("task    sweep: * * * * * UTC, /tasks/sweep");
    const { promise, resolve } = Promise.withResolvers<void>();
    held.set("", promise);
    await passMinute();
    const tasks = () => requests.filter(({ path }) => path === "/tasks/sweep");
    await eventually(async () => tasks().length > 0, true);
    expect(tasks()[0]).toMatchObject({
      body: "",
      headers: {
        "content-length": "0",
        "x-aws-sqsd-taskname": "sweep",
        "x-aws-sqsd-scheduled-at": expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00Z$/),
      },
    });
    // The handler is still at work.
    await passMinute();
    await running.printed(
      /task "sweep" was to run at \S+, its last run is not done yet: this one is left out/,
    );
    // The message can come again after its visibility timeout; the schedule makes no other run.
    expect(new Set(tasks().map(({ headers }) => headers["x-aws-sqsd-scheduled-at"])).size).toBe(1);
    resolve();
    held.delete("");
  });

  async function passMinute(): Promise<void> {
    const moved = await fetch(`http://127.0.0.1:${port}/__sluice/api/clock`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ advanceMs: 60_000 }),
    });
    expect(moved.ok).toBe(true);
  }

  it("posts a job again that failed, and moves it to the dead-letter queue after MaxRetries receives", async () => {
    answers.set("flaky", [500]);
    answers.set("poison", [500, 204, 404, 500]);
    const [{ MessageId }] = await Promise.all([send("flaky"), send("poison")]);
    const dead = async () => {
      const received = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl: queueUrl("jobs-dead"), WaitTimeSeconds: 20 }),
      );
      return received.Messages?.map(({ Body }) => Body);
    };
    expect(await dead()).toEqual(["poison"]);
    expect(requestsOf("poison").map(({ headers }) => headers["x-aws-sqsd-receive-count"])).toEqual([
      "1",
      "2",
      "3",
    ]);
    await eventually(async () => requestsOf("flaky").length, 2);
    // The id is the one that the sender was given.
    expect(running.output).toMatch(new RegExp(`http-err: ${MessageId} \\(1\\) 500 - \\d+\\.\\d{3}`));
  });

  it("waits for the answers to posted jobs when it is stopped", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held.set("slow", promise);
    await send("slow");
    await eventually(async () => requestsOf("slow").length, 1);
    const ended = running.stop("SIGTERM");
    await running.printed(/drain {3}waiting for 1 request\(s\)/);
    resolve();
    expect(await ended).toBe(0);
    running = await start();
    await send("after slow");
    await eventually(async () => requestsOf("after slow").length, 1);
    // The job was deleted before the end: otherwise it would be in flight, or come again.
    await eventually(async () => (await counts("jobs")).join(), "0,0");
    expect(requestsOf("slow")).toHaveLength(1);
  });

  /** Messages of a queue: visible ones and those in flight. */
  async function counts(queue: string): Promise<(string | undefined)[]> {
    const { Attributes = {} } = await sqs.send(
      new GetQueueAttributesCommand({
        QueueUrl: queueUrl(queue),
        AttributeNames: ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
      }),
    );
    return [Attributes.ApproximateNumberOfMessages, Attributes.ApproximateNumberOfMessagesNotVisible];
  }

  it("keeps jobs that were sent while the application was down, after kill -9 of the daemon", async () => {
    server.closeAllConnections();
    const { port: applicationPort } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    await send("while down");
    await running.printed(/socket-err: [0-9a-f-]{36} \(1\)/);
    await running.stop("SIGKILL");
    await once(server.listen(applicationPort, "127.0.0.1"), "listening");
    running = await start();
    await eventually(async () => requestsOf("while down").length + (await deadCount()), 1);
  });

  /** With MaxRetries 3 and no pause a job may be a dead letter before the daemon is killed: it is not lost then. */
  async function deadCount(): Promise<number> {
    const received = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl: queueUrl("jobs-dead"), MaxNumberOfMessages: 10 }),
    );
    return received.Messages?.filter(({ Body }) => Body === "while down").length ?? 0;
  }

  it("refuses unknown options with an explanation", async () => {
    const refused = sluice(
      ["worker-daemon", "--url", "http://localhost:1/", "--option", "HttpConnections=0", "--option", "X=1"],
      folder,
      { ...process.env, NO_COLOR: "1" },
    );
    expect(await refused.ended).toBe(2);
    expect(refused.output).toContain("--option HttpConnections should be a whole number from 1 to 100");
    expect(refused.output).toContain("--option X is no option of the worker daemon");
  });
});
