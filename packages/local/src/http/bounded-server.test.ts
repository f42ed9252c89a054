import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { RawClient } from "../../test/raw-client.ts";
import { type BoundedServer, type BoundedServerOptions, createBoundedServer } from "./bounded-server.ts";
import { Connections } from "./connections.ts";
import { CHUNK_BYTES_MIN, CHUNKS_MAX, HEAD_BYTES_MAX, HTTP_LIMITS, UNTAKEN_MS_MAX } from "./limits.ts";

const AWS = "/__sluice/aws";
const AWS_BYTES_MAX = 4_194_304;
const API = "/__sluice/client/v4/accounts/a/queues/b/messages";
const API_BYTES_MAX = 4_000_000;
const ADMIN = "/__sluice/api/clock";
const ADMIN_BYTES_MAX = 65_536;

let bounded: BoundedServer;
/** Requests that were answered, and the bytes of their bodies. */
let answered: [string, number][];
let hold: Promise<void> | null;
/** Added to each answer. */
let more: string;

async function start(options: Partial<BoundedServerOptions> = {}): Promise<void> {
  bounded = createBoundedServer({
    answer: async (request, response, body) => {
      answered.push([request.url ?? "", body.byteLength]);
      await hold;
      response.end(`answered: ${body.byteLength}${more}`);
    },
    ...options,
  });
  await once(bounded.server.listen(0, "127.0.0.1"), "listening");
}

function stop(): void {
  bounded.server.close();
  bounded.server.closeAllConnections();
}

async function open(): Promise<RawClient> {
  const client = await RawClient.open((bounded.server.address() as AddressInfo).port);
  onTestFinished(() => void client.socket.destroy());
  return client;
}

async function untilAnswered(count: number): Promise<void> {
  while (answered.length < count) await new Promise((resolve) => setImmediate(resolve));
}

const CLOSE = "Connection: close\r\n";
const get = (path = "/x", more = "") => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const post = (path: string, bytes: number, more = "") =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\n${more}Content-Length: ${bytes}\r\n\r\n`;

beforeEach(async () => {
  [answered, hold, more] = [[], null, ""];
  await start();
});
afterEach(stop);

describe("a body", () => {
  it.each([
    [
      AWS,
      AWS_BYTES_MAX,
      "<Code>RequestEntityTooLarge</Code><Message>HTTP content length exceeded 4194304 bytes.",
    ],
    [API, API_BYTES_MAX, '"code":10205'],
    [ADMIN, ADMIN_BYTES_MAX, '"code":"body_too_large"'],
    ["/else", ADMIN_BYTES_MAX, '"code":"body_too_large"'],
  ])(
    "to %s has %i bytes at most: more is refused before it is read, in its dialect's words",
    async (path, max, words) => {
      for (const bytes of [max - 1, max]) {
        const client = await open();
        await client.write(post(path, bytes));
        client.socket.write(Buffer.alloc(bytes, "x"));
        await client.received(`answered: ${bytes}`);
      }
      const client = await open();
      await client.write(post(path, max + 1));
      await client.received(words);
      expect(client.text).toMatch(/^HTTP\/1\.1 413 .*\r\nconnection: close\r\n/is);
      await client.ended();
      expect(answered.map(([, bytes]) => bytes)).toEqual([max - 1, max]);
      expect(bounded.connections.bytes).toEqual({ unread: 0, answering: 0 });
    },
  );

  it("in chunks is not read on once it is too large", async () => {
    const chunks = (bytes: number) => [
      Buffer.from(`POST ${ADMIN} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`),
      ...Array.from({ length: bytes / 4_096 }, () => Buffer.from(`1000\r\n${"x".repeat(4_096)}\r\n`)),
    ];
    const client = await open();
    for (const chunk of [...chunks(ADMIN_BYTES_MAX), Buffer.from("0\r\n\r\n")]) client.socket.write(chunk);
    await client.received(`answered: ${ADMIN_BYTES_MAX}`);
    const other = await open();
    for (const chunk of [...chunks(ADMIN_BYTES_MAX), Buffer.from("1\r\nx\r\n")]) other.socket.write(chunk);
    await other.received("body_too_large");
    await other.ended();
    expect(answered).toHaveLength(1);
  });

  it.each([
    [true, "", 65_536, "exceeded 65536 bytes, the most of a request without a signature."],
    [true, "Authorization: AWS4-HMAC-SHA256 Credential=x\r\n", AWS_BYTES_MAX, "exceeded 4194304 bytes."],
    [false, "", AWS_BYTES_MAX, "exceeded 4194304 bytes."],
  ])(
    "of AWS's clients, who have to sign: %s; with %j it may have %i bytes",
    async (asksForSignatures, more, max, words) => {
      stop();
      await start({ asksForSignatures });
      const head = `POST ${AWS} HTTP/1.1\r\nHost: a\r\n${more}Transfer-Encoding: chunked\r\n\r\n`;
      const client = await open();
      client.socket.write(`${head}${max.toString(16)}\r\n${"x".repeat(max)}\r\n0\r\n\r\n`);
      await client.received(`answered: ${max}`);
      const other = await open();
      // One byte more, of a chunk that does not end.
      other.socket.write(`${head}fffffff\r\n${"x".repeat(max + 1)}`);
      await other.received(words);
      expect(answered).toHaveLength(1);
    },
  );

  it.each([
    ["single bytes", CHUNKS_MAX, 1, CHUNKS_MAX + 1],
    // What comes in two parts counts twice.
    ["larger ones", CHUNKS_MAX + 100, 2 * CHUNK_BYTES_MIN, null],
  ])("can be in many chunks if they are not small: %s", async (_, count, bytes, refusedAt) => {
    const head = `POST ${AWS} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunk = `${bytes.toString(16)}\r\n${"x".repeat(bytes)}\r\n`;
    const client = await open();
    // By the thousand: no chunk comes in two parts, which would count twice.
    await client.write(head);
    for (let sent = 0; sent < count; sent += 1_000) {
      await client.write(chunk.repeat(Math.min(1_000, count - sent)));
    }
    await client.write("0\r\n\r\n");
    await client.received(`answered: ${count * bytes}`);
    if (refusedAt === null) return;
    const other = await open();
    await other.write(head + chunk.repeat(refusedAt));
    await other.received("too many small chunks");
    expect(other.text).toMatch(/^HTTP\/1\.1 413 .*\r\nconnection: close\r\n/is);
    await other.ended();
    expect(answered).toHaveLength(1);
  });

  it("of an SDK is refused in JSON", async () => {
    const client = await open();
    await client.write(post(AWS, 30_000_000, "X-Amz-Target: AmazonSQS.SendMessage\r\n"));
    await client.received('RequestEntityTooLargeException"');
    expect(client.text).toContain("x-amzn-query-error: RequestEntityTooLarge;Sender");
  });

  it("is asked for only when it is wanted", async () => {
    const [wanted, unwanted] = [await open(), await open()];
    const expects = "Expect: 100-continue\r\n";
    await unwanted.write(post(AWS, AWS_BYTES_MAX + 1, expects));
    await unwanted.received("RequestEntityTooLarge");
    expect(unwanted.text).not.toContain("100 Continue");
    await wanted.write(post(AWS, 2, expects));
    await wanted.received("100 Continue");
    await wanted.write("ab");
    await wanted.received("answered: 2");
  });
});

describe("a head", () => {
  const head = (bytes: number) => `GET /x HTTP/1.1\r\nHost: a\r\nX: ${"y".repeat(bytes - 33)}\r\n\r\n`;

  // `node:http` counts the bytes of a head in its own way, and a few less.
  it.each([
    [HEAD_BYTES_MAX - 100, "answered"],
    [HEAD_BYTES_MAX + 1, "431 Request Header Fields Too Large"],
    [900_000, "431 Request Header Fields Too Large"],
  ])("of %i bytes: %s", async (bytes, text) => {
    const client = await open();
    client.socket.write(head(bytes));
    await client.received(text);
  });
});

it("answers bodies behind each other, however they are cut", async () => {
  const client = await open();
  await client.write(`${post(AWS, 3)}abc${post(AWS, 6)}def`);
  await client.received("answered: 3");
  await client.write("ghi");
  await client.received("answered: 6");
  await client.write(get("/last", CLOSE));
  await client.ended();
  expect(answered.map(([, bytes]) => bytes)).toEqual([3, 6, 0]);
});

it("says of a target that is neither a path nor a URL that it is none", async () => {
  const client = await open();
  await client.write("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
  await client.received("The target of the request is neither a path nor a URL of HTTP.\n");
  expect([client.text.slice(0, 12), answered]).toEqual(["HTTP/1.1 400", []]);
});

it("refuses a request with two Host headers, also where they are the same", async () => {
  const client = await open();
  await client.write("GET /x HTTP/1.1\r\nHost: a\r\nHOST: a\r\n\r\n");
  await client.received("or there are two.\n");
  expect([client.text.slice(0, 12), answered]).toEqual(["HTTP/1.1 400", []]);
});

describe("where much is being read", () => {
  it("the oldest of what is half here is refused with 503, and others are answered", async () => {
    stop();
    await start({ connections: new Connections({ unreadBytesMax: 300_000 }) });
    const strangers: RawClient[] = [];
    for (let i = 0; i < 3; i += 1) {
      const stranger = await open();
      await stranger.write(post(AWS, 200_000));
      stranger.socket.write(Buffer.alloc(140_000, "x"));
      strangers.push(stranger);
    }
    await strangers[0]?.received("ServiceUnavailable");
    expect(strangers[0]?.text).toMatch(/^HTTP\/1\.1 503 .*retry-after: 1\r\n/is);
    const halfHead = await open();
    await halfHead.write("GET / HTTP/1.1\r\nHost: a");
    const client = await open();
    await client.write(post(AWS, 50_000));
    client.socket.write(Buffer.alloc(50_000, "x"));
    await client.received("answered: 50000");
    expect(halfHead.isEnded).toBe(false);
    expect(strangers[2]?.text).toBe("");
  });

  it("a request is refused with 503 that has no room to be answered, and comes through later", async () => {
    stop();
    await start({ connections: new Connections({ answeringBytesMax: 300 }) });
    const answers = Promise.withResolvers<void>();
    hold = answers.promise;
    const [first, second] = [await open(), await open()];
    await first.write(`${post(AWS, 200)}${"x".repeat(200)}`);
    await second.write(`${post(AWS, 200)}${"x".repeat(200)}`);
    await second.received("ServiceUnavailable");
    expect(second.text).toMatch(/^HTTP\/1\.1 503 .*retry-after: 1\r\n/is);
    answers.resolve();
    await first.received("answered: 200");
    const third = await open();
    await third.write(`${post(AWS, 200)}${"x".repeat(200)}`);
    await third.received("answered: 200");
  });

  it("a connection for which there is no room is refused with 503", async () => {
    stop();
    await start({ connections: new Connections({ connectionsMax: 1 }) });
    const answers = Promise.withResolvers<void>();
    hold = answers.promise;
    const [first, second] = [await open(), await open()];
    await first.ended();
    const third = await open();
    await second.ended();
    await third.write("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    await untilAnswered(1);
    const fourth = await open();
    await fourth.ended();
    expect(fourth.text).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\nRetry-After: 1\r\n/);
    answers.resolve();
    await third.received("answered: 0");
  });
});

describe("who is slow", () => {
  const SOON = { ...HTTP_LIMITS, headersTimeout: 200, requestTimeout: 400, connectionsCheckingInterval: 50 };

  it.each([
    ["says nothing", ""],
    ["sends a head byte by byte", "GET / HTTP/1.1\r\nHost: a\r\nX: "],
    ["sends a body byte by byte", post(AWS, 100_000)],
  ])("is given up: who %s", async (_, text) => {
    stop();
    await start({ http: SOON as typeof HTTP_LIMITS });
    const client = await open();
    if (text !== "") await client.write(text);
    const drip = setInterval(() => text !== "" && client.socket.write("x"), 20);
    onTestFinished(() => clearInterval(drip));
    await client.ended();
    expect(client.text).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    while (bounded.connections.size > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(bounded.connections.bytes).toEqual({ unread: 0, answering: 0 });
  });
});

it("a body that stops half-way is answered with 408 before its silent connection is closed", async () => {
  // The limits of production, a hundredth as long.
  const soon = (ms: number) => ms / 100;
  const http = {
    ...HTTP_LIMITS,
    headersTimeout: soon(HTTP_LIMITS.headersTimeout),
    requestTimeout: soon(HTTP_LIMITS.requestTimeout),
    connectionsCheckingInterval: soon(HTTP_LIMITS.connectionsCheckingInterval),
  };
  stop();
  await start({ http: http as typeof HTTP_LIMITS, untakenMsMax: soon(UNTAKEN_MS_MAX) });
  const client = await open();
  await client.write(`${post(AWS, 10)}half`);
  await client.ended();
  expect(client.text).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
});

describe("a client that does not read its answers", () => {
  const LONG = "x".repeat(400_000);
  const COUNT = 40;

  /** Opens a connection whose answers fill all that is on their way to it. */
  async function openUnread(): Promise<RawClient> {
    more = LONG;
    const client = await open();
    client.socket.pause();
    await client.write(get().repeat(COUNT));
    await untilAnswered(COUNT);
    return client;
  }

  it("has its requests held, and answered in their order when it reads on", async () => {
    const client = await openUnread();
    const sent = `${get("/1")}${post("/2", 3)}abc${get("/3").repeat(49)}${get("/3", CLOSE)}`;
    await client.write(sent);
    const other = await open();
    await other.write(get("/other"));
    await untilAnswered(COUNT + 2);
    // One is read when it is found out that nobody takes the answers.
    expect(answered.slice(COUNT).map(([path]) => path)).toEqual(["/1", "/other"]);
    expect(bounded.connections.bytes.unread).toBe(sent.length - get("/1").length);
    client.socket.resume();
    await client.ended();
    const lengths = client.text.split("answered: ").slice(1).map(Number.parseFloat);
    expect(lengths).toEqual([...Array(COUNT + 1).fill(0), 3, ...Array(50).fill(0)]);
    expect(bounded.connections.bytes.unread).toBe(0);
  });

  it("is not read on, however much it sends", async () => {
    const client = await openUnread();
    let taken = 0;
    for (let i = 0; i < 200; i += 1) client.socket.write(get().repeat(1_000), () => (taken += 1));
    for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(taken).toBeLessThan(200);
    expect(answered.length).toBe(COUNT + 1);
    expect(bounded.connections.bytes.unread).toBeLessThanOrEqual(65_536);
  });

  it("is ended when it takes nothing for too long, and nobody else is", async () => {
    stop();
    await start({ untakenMsMax: 300 });
    const answers = Promise.withResolvers<void>();
    const unread = await openUnread();
    [hold, more] = [answers.promise, ""];
    const patient = await open();
    await patient.write(get("/patient"));
    await untilAnswered(COUNT + 1);
    unread.socket.resume();
    unread.socket.pause();
    while (bounded.connections.size > 1) await new Promise((resolve) => setImmediate(resolve));
    answers.resolve();
    await patient.received("answered: 0");
  });

  it.each([
    ["ends its side", (client: RawClient) => void client.socket.end(get().repeat(9))],
    ["goes", (client: RawClient) => void client.socket.destroy()],
  ])("may be one that %s meanwhile", async (_, leave) => {
    const client = await openUnread();
    await client.write(get().repeat(9));
    leave(client);
    client.socket.resume();
    await client.closed;
    while (bounded.connections.size > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(bounded.connections.bytes).toEqual({ unread: 0, answering: 0 });
  });
});

describe("what ends a connection for `node:http`", () => {
  it.each([
    ["a tunnel that is asked for", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["no HTTP", "\x16\x03\x01\x02\r\n\r\n"],
    ["a head without a host", "GET /x HTTP/1.1\r\n\r\n"],
    ["the last request as it says", get("/last", CLOSE)],
    ["an expectation of something else", get("/x", "Expect: more\r\n")],
    ["a chunk without a length", `${post(AWS, 0, "Transfer-Encoding: chunked\r\n")}x\r\n\r\n`],
  ])("does not end the process with what comes behind it: %s", async (_, text) => {
    for (const pieces of [1, 2]) {
      const client = await open();
      const behind = get("/behind").repeat(20);
      if (pieces === 1) await client.write(text + behind);
      else for (const each of [text, behind]) await client.write(each);
      await client.ended();
    }
    const other = await open();
    await other.write(get("/other"));
    await other.received("answered: 0");
  });

  it("is not the wish for another protocol: it is answered as if there was none", async () => {
    const client = await open();
    await client.write(get("/x", "Connection: Upgrade\r\nUpgrade: websocket\r\n") + get("/behind"));
    await client.received("answered: ", 2);
  });
});
