import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { HOLDER_FILE } from "@sluice/local/data/data-lock";
import getPort from "@sluice/protocol/test/free-port";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { seePage } from "./lab.ts";
import { Running, SLUICE, sluice } from "./running.ts";
import { callSqs, ENV, temporaryFolder } from "./serving.ts";

/** Limit of open files for a process that is to exceed it. */
const FILES_MAX = 128;
const IDLE_CONNECTIONS = 1_000;
const BODY_BYTES_MAX = 4_194_304;

function clientOf(port: number) {
  const endpoint = `http://127.0.0.1:${port}/__sluice/aws`;
  const call = (action: string, input: object) => callSqs(endpoint, action, input);
  const open = async (text: string): Promise<Socket> => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.write(text, "latin1");
    return socket;
  };
  /** Sends a text, and reads the connection until it ends or a number of answers has come. */
  const said = async (text: string, answers = 1): Promise<string> => {
    const socket = await open(text);
    let read = "";
    const isDone = () => (read.match(/HTTP\/1\.1 [2-5]/g) ?? []).length >= answers && /\r\n\r\n/.test(read);
    try {
      for await (const chunk of socket.setEncoding("latin1")) {
        read += chunk;
        if (isDone()) break;
      }
    } catch {
      // The connection was reset: the answers before that count.
    }
    socket.destroy();
    return read;
  };
  return { call, open, said, endpoint };
}

describe("sluice serve without Workers, with faulty clients", () => {
  const folder = temporaryFolder();
  let running: Running;
  let client: ReturnType<typeof clientOf>;
  let origin: string;
  const body = '{"QueueName":"q"}';
  const post = (headers = "", first = "POST /__sluice/aws HTTP/1.1") =>
    `${first}\r\nHost: a\r\nX-Amz-Target: AmazonSQS.GetQueueUrl\r\nContent-Length: ` +
    `${body.length}\r\n${headers}\r\n${body}`;

  beforeAll(async () => {
    const port = await getPort();
    running = sluice(["serve", "--port", `${port}`], folder, ENV);
    await running.printed(/AWS_SECRET_ACCESS_KEY/);
    client = clientOf(port);
    origin = `http://127.0.0.1:${port}`;
    await client.call("CreateQueue", { QueueName: "q" });
  });
  afterAll(() => running?.stop());

  it("shows the page", () => seePage(origin));

  it.each([
    ["HTTP/1.0", post("", "POST /__sluice/aws HTTP/1.0"), 200],
    ["a request that waits for 100 Continue", post("Expect: 100-continue\r\n"), 200],
    ["an unknown expectation", post("Expect: more\r\n"), 417],
    ["a wish for another protocol", post("Connection: Upgrade\r\nUpgrade: h2c\r\n"), 200],
    ["a preflight request", "OPTIONS /__sluice/aws HTTP/1.1\r\nHost: a\r\n\r\n", 404],
    ["PUT", "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx", 404],
    ["HEAD", "HEAD /__sluice/health HTTP/1.1\r\nHost: a\r\n\r\n", 200],
    ["a path that cannot be decoded", "GET /__sluice/api/queues/%zz HTTP/1.1\r\nHost: a\r\n\r\n", 404],
    ["an invalid host", "GET / HTTP/1.1\r\nHost: a b/c?\r\n\r\n", 400],
    ["no host", "GET / HTTP/1.1\r\n\r\n", 400],
    ["a host without a name", "GET / HTTP/1.1\r\nHost: \r\n\r\n", 400],
    ["an invalid port", post().replace("Host: a", "Host: a:99999"), 400],
    ["an invalid address", post().replace("Host: a", "Host: 1.2.3.400"), 400],
    ["an invalid address on a GET", "GET /__sluice/health HTTP/1.1\r\nHost: 1.2.3.400\r\n\r\n", 400],
    ["a URL with an invalid port", "GET http://a:99999/__sluice/health HTTP/1.1\r\nHost: a\r\n\r\n", 400],
    ["a header in a header", post("X: a\rInjected: 1\r\n"), 400],
    ["a NUL in a header", post("X: a\0b\r\n"), 400],
    ["two lengths", post("Content-Length: 3\r\n"), 400],
    ["a length and chunks", post("Transfer-Encoding: chunked\r\n"), 400],
    ["TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400],
    ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
  ])("answers %s", async (_, text, status) => {
    const answer = await client.said(text);
    expect(answer.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, "")).toMatch(
      new RegExp(`^HTTP/1.1 ${status} `),
    );
  });

  it("answers pipelined requests in their order", async () => {
    const other = "GET /__sluice/health HTTP/1.1\r\nHost: a\r\n\r\n";
    const read = await client.said((post() + other).repeat(3), 6);
    const kinds = [...read.matchAll(/x-amzn-requestid|"status":"ok"/g)].map(([kind]) => kind);
    const [request, health] = ["x-amzn-requestid", '"status":"ok"'];
    expect(kinds.slice(0, 5)).toEqual([request, health, request, health, request]);
  });

  it.each([
    [BODY_BYTES_MAX + 1, "HTTP content length exceeded 4194304 bytes."],
    [10_000_000, "HTTP content length exceeded 4194304 bytes."],
  ])("refuses a body of %i bytes with an explanation", async (bytes, message) => {
    const headers = { "x-amz-target": "AmazonSQS.SendMessage" };
    const response = await fetch(client.endpoint, { method: "POST", headers, body: "x".repeat(bytes) });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({
      __type: expect.stringContaining("RequestEntityTooLarge"),
      message,
    });
  });

  it("serves other clients while many are silent, stop in the middle, or do not read their answers", async () => {
    const { answer } = await client.call("GetQueueUrl", { QueueName: "q" });
    const { QueueUrl } = answer;
    const MessageBody = "y".repeat(250_000);
    for (let i = 0; i < 4; i++) await client.call("SendMessage", { QueueUrl, MessageBody });
    const receive = JSON.stringify({ QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 0 });
    const asks =
      `POST /__sluice/aws HTTP/1.1\r\nHost: a\r\nX-Amz-Target: ` +
      `AmazonSQS.ReceiveMessage\r\nContent-Length: ${receive.length}\r\n\r\n${receive}`;
    const sockets: Socket[] = [];
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    const opening = (count: number, text: string) => Array.from({ length: count }, () => client.open(text));
    sockets.push(...(await Promise.all(opening(IDLE_CONNECTIONS, ""))));
    sockets.push(...(await Promise.all(opening(100, "POST /__sluice/aws HTTP/1.1\r\nHos"))));
    sockets.push(...(await Promise.all(opening(100, post().slice(0, -1)))));
    const slow = await Promise.all(opening(20, asks));
    for (const socket of slow) socket.pause();
    sockets.push(...slow);
    for (let i = 0; i < 20; i++)
      expect((await client.call("GetQueueUrl", { QueueName: "q" })).status).toBe(200);
    expect(running.output).not.toContain("Error");
  });
});

describe("sluice serve without Workers, with a faulty process", () => {
  /** Runs the command after a command of a shell, with a preloaded script of Node.js. */
  const start = async (folder: string, port: number, before: { shell?: string; script?: string }) => {
    const { shell, script } = before;
    const imported = `--import=data:text/javascript,${encodeURIComponent(script ?? "")}`;
    const env = script === undefined ? ENV : { ...ENV, NODE_OPTIONS: imported };
    const running = new Running([SLUICE, "serve", "--port", `${port}`], folder, env, shell);
    await running.printed(/AWS_SECRET_ACCESS_KEY/);
    return running;
  };

  it("prints an uncaught exception, frees its data and has lost nothing", async () => {
    const folder = temporaryFolder();
    const port = await getPort();
    const { call } = clientOf(port);
    const script = 'process.on("SIGUSR2", () => { throw new Error("not caught"); })';
    const first = await start(folder, port, { script });
    const { answer } = await call("CreateQueue", { QueueName: "q" });
    const { QueueUrl } = answer;
    await call("SendMessage", { QueueUrl, MessageBody: "kept" });
    expect(await first.stop("SIGUSR2")).toBe(1);
    expect(first.output).toContain("Error: not caught");
    expect(existsSync(join(folder, ".wrangler/state", HOLDER_FILE))).toBe(false);
    const second = await start(folder, port, {});
    const received = await call("ReceiveMessage", { QueueUrl });
    expect(received.answer).toMatchObject({ Messages: [{ Body: "kept" }] });
    expect(await second.stop()).toBe(0);
  });

  it("survives unhandled rejections, and reports them", async () => {
    const port = await getPort();
    const script = 'process.on("SIGUSR2", () => { Promise.reject(new Error("not heard")); })';
    const running = await start(temporaryFolder(), port, { script });
    process.kill(running.pid, "SIGUSR2");
    await running.printed(/a promise was rejected and nobody heard: Error: not heard/);
    expect((await clientOf(port).call("ListQueues", {})).status).toBe(200);
    expect(await running.stop()).toBe(0);
  });

  it("refuses new queues when it may open no more files, and serves existing queues and connections", {
    tags: "slow",
  }, async () => {
    const port = await getPort();
    const { call, open } = clientOf(port);
    const running = await start(temporaryFolder(), port, { shell: `ulimit -n ${FILES_MAX}` });
    const urls: unknown[] = [];
    let refused: Awaited<ReturnType<typeof call>> | null = null;
    for (let i = 0; refused === null; i++) {
      expect(i).toBeLessThan(FILES_MAX);
      const { answer } = await call("CreateQueue", { QueueName: `q${i}` });
      const { QueueUrl } = answer;
      const sent = await call("SendMessage", { QueueUrl, MessageBody: "one" });
      if (sent.status === 200) urls.push(QueueUrl);
      else refused = sent;
    }
    expect(urls.length).toBeGreaterThan(5);
    expect(refused).toMatchObject({
      status: 500,
      answer: { __type: expect.stringContaining("InternalFailure") },
    });
    await running.printed(/SQLITE_CANTOPEN/);
    const sockets = await Promise.all(Array.from({ length: 2 * FILES_MAX }, () => open("")));
    for (const socket of sockets) socket.destroy();
    for (const QueueUrl of urls) {
      const received = await call("ReceiveMessage", { QueueUrl });
      expect(received.answer).toMatchObject({ Messages: [{ Body: "one" }] });
    }
    for (const QueueUrl of urls.slice(0, 4)) await call("DeleteQueue", { QueueUrl });
    const again = await call("CreateQueue", { QueueName: "again" });
    expect((await call("SendMessage", { QueueUrl: again.answer.QueueUrl, MessageBody: "two" })).status).toBe(
      200,
    );
    expect(await running.stop()).toBe(0);
  });
});
