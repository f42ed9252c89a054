import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BrokerEnd } from "../../../test/broker-end.ts";
import { CliError } from "../../errors.ts";
import { type Front, startFront } from "./front.ts";
import { FRAMED_BYTES_MAX, FRAMED_HEADERS_LENGTH_MAX } from "./plain-post.ts";

const TOKEN = "token of the front";
const AWS = "/__sluice/aws";

let broker: BrokerEnd;
/** Answers what is handed on, in the place of workerd. */
let worker: Server;
let front: Front;
let warnings: string[];
const portOf = (server: Server) => (server.address() as AddressInfo).port;
const at = (path: string) => `http://127.0.0.1:${front.port}${path}`;
const post = (body: string | Uint8Array<ArrayBuffer>, path = `${AWS}/`, init: RequestInit = {}) =>
  fetch(at(path), { method: "POST", body, ...init });
const answerRequests = async () => {
  await broker.until(() => broker.requests.length > 0);
  broker.answer(...broker.requests.splice(0).map(({ id }) => ({ id })));
};

beforeEach(async () => {
  broker = new BrokerEnd();
  worker = createServer({ maxHeaderSize: 1_000_000 }, async (incoming, response) => {
    const body = await text(incoming);
    response.setHeader("x-said", ["a", "b"]);
    response.end(`worker: ${incoming.method} ${incoming.url} ${incoming.headers.host} ${body.length}`);
  });
  worker.on("upgrade", (_incoming, socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
    socket.pipe(socket);
  });
  await once(worker.listen(0, "127.0.0.1"), "listening");
  warnings = [];
  const workerd = { http: portOf(worker), frames: broker.port };
  const warn = (warning: string) => void warnings.push(warning);
  front = await startFront({ host: "127.0.0.1", port: 0, workerd, token: TOKEN, warn });
  await broker.until(() => broker.tokens.length === 1);
  // The front's own end is open a moment later than the broker's.
  for (let isOpen = false; !isOpen; ) {
    const probe = post("probe");
    isOpen = await Promise.race([
      broker.until(() => broker.requests.length > 0).then(() => true),
      probe.then(() => false),
    ]);
    if (isOpen) await answerRequests();
    await (await probe).text();
  }
  broker.frames.length = 0;
});

afterEach(() => {
  front.destroy();
  broker.close();
  worker.closeAllConnections();
  worker.close();
});

describe("what AWS's clients post", () => {
  it("is handed to the broker, which gets to know the front by its token", async () => {
    const answered = post("é", `${AWS}/000000000000/orders.fifo`, {
      headers: { "X-Amz-Target": "AmazonSQS.A" },
    });
    await broker.until(() => broker.requests.length === 1);
    const [framed] = broker.requests;
    expect(broker.tokens).toEqual([`Bearer ${TOKEN}`]);
    expect(framed).toMatchObject({
      method: "POST",
      url: at(`${AWS}/000000000000/orders.fifo`),
      headers: { host: `127.0.0.1:${front.port}`, "x-amz-target": "AmazonSQS.A" },
      body: "é",
    });
    broker.answer({ id: framed?.id ?? 0, status: 400, headers: { "x-amzn-requestid": "1" }, body: "né" });
    const response = await answered;
    expect([response.status, response.headers.get("x-amzn-requestid")]).toEqual([400, "1"]);
    expect(response.headers.get("content-length")).toBe("3");
    expect(await response.text()).toBe("né");
  });

  it("goes in one frame when it comes together, and each gets its own answer", async () => {
    const socket = connect(front.port, "127.0.0.1");
    const one = (body: string) =>
      `POST ${AWS}/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    socket.write(one("first") + one("second"));
    await broker.until(() => broker.requests.length === 2);
    expect(broker.frames).toEqual([2]);
    broker.answer(
      ...broker.requests.splice(0).map(({ id, body }) => ({ id, body: `answer to the ${body}` })),
    );
    let read = "";
    for await (const chunk of socket.setEncoding("utf8")) {
      read += chunk;
      if (read.endsWith("answer to the second")) break;
    }
    expect(read.indexOf("answer to the first")).toBeGreaterThan(0);
    const many = Array.from({ length: 20 }, (_, i) => post(`${i}`));
    await broker.until(() => broker.requests.length === 20);
    broker.answer(...broker.requests.map(({ id, body }) => ({ id, body: `${body}!` })));
    const bodies = await Promise.all(many.map(async (response) => (await response).text()));
    expect(bodies).toEqual(Array.from({ length: 20 }, (_, i) => `${i}!`));
  });

  it("is a Worker's where it has the address", async () => {
    const response = await post("x", "/", { headers: { "x-amz-target": "AmazonSQS.SendMessage" } });
    expect(await response.text()).toMatch(/^worker: POST \/ /);
  });

  it.each([
    ["of the largest size that frames take", FRAMED_BYTES_MAX - 1, true],
    ["of the largest size", FRAMED_BYTES_MAX, true],
    ["of more", FRAMED_BYTES_MAX + 1, false],
  ])("%s goes in a frame or by itself", async (_, bytes, isFramed) => {
    for (const isChunked of [false, true]) {
      const body = "x".repeat(bytes);
      const outgoing = request(at(`${AWS}/`), { method: "POST" });
      const answered = once(outgoing, "response");
      if (isChunked) outgoing.write(body.slice(0, 10));
      outgoing.end(isChunked ? body.slice(10) : body);
      if (isFramed) await answerRequests();
      const [response] = (await answered) as [IncomingMessage];
      const said = await text(response);
      if (isFramed) expect(said).toMatch(/^answer \d+$/);
      else expect(said).toBe(`worker: POST ${AWS}/ 127.0.0.1:${front.port} ${bytes}`);
    }
  });

  it.each([
    ["of the longest that frames take", FRAMED_HEADERS_LENGTH_MAX - 1, true],
    ["of the longest", FRAMED_HEADERS_LENGTH_MAX, true],
    ["of more", FRAMED_HEADERS_LENGTH_MAX + 1, false],
    ["of much more", 300_000, false],
  ])("with headers %s goes in a frame or by itself", async (_, length, isFramed) => {
    const others = Object.entries({
      Host: "localhost",
      "Content-Length": "1",
      Connection: "close",
      "X-Long": "",
    });
    const long = "x".repeat(length - others.flat().join("").length);
    const outgoing = request(at(`${AWS}/`), { method: "POST", headers: { "X-Long": long }, setHost: false });
    outgoing.setHeader("Host", "localhost");
    outgoing.setHeader("Connection", "close");
    outgoing.setHeader("Content-Length", "1");
    const answered = once(outgoing, "response");
    outgoing.end("x");
    if (isFramed) await answerRequests();
    const [response] = (await answered) as [IncomingMessage];
    expect(await text(response)).toMatch(isFramed ? /^answer/ : /^worker/);
  });

  it.each([
    ["a query", () => post("x", `${AWS}/?Action=ListQueues`), `${AWS}/?Action=ListQueues`],
    ["a path that is encoded", () => post("x", `${AWS}/a%20b`), `${AWS}/a%20b`],
    ["a path that only begins like the endpoint", () => post("x", `${AWS}x/`), `${AWS}x/`],
    ["bytes that are no text", () => post(Uint8Array.of(0xc3, 0x28)), `${AWS}/`],
    ["a byte order mark", () => post(Uint8Array.of(0xef, 0xbb, 0xbf, 0x78)), `${AWS}/`],
  ])("goes to the broker by itself with %s", async (_, send, path) => {
    const response = await send();
    expect(await response.text()).toContain(`worker: POST ${path} 127.0.0.1:${front.port}`);
    expect(response.headers.get("x-said")).toBe("a, b");
    expect(broker.requests).toEqual([]);
  });
});

describe("a client that goes", () => {
  const begin = async () => {
    const outgoing = request(at(`${AWS}/`), { method: "POST" });
    outgoing.on("error", () => {});
    outgoing.end("x");
    await broker.until(() => broker.requests.length === 1);
    return { outgoing, id: broker.requests[0]?.id ?? 0 };
  };

  it("is told of at once", async () => {
    const { outgoing, id } = await begin();
    outgoing.destroy();
    await broker.until(() => broker.events.length > 0);
    expect(broker.events).toEqual([`gone ${id}`]);
    // An answer that was on its way finds nobody.
    broker.answer({ id });
    const next = post("y");
    await broker.until(() => broker.requests.length === 2);
    broker.answer({ id: broker.requests[1]?.id ?? 0, body: "still there" });
    expect(await (await next).text()).toBe("still there");
  });

  it("and has gone before its answer is written is not taken for one who got it", async () => {
    for (const isFirst of [true, false]) {
      const { outgoing, id } = await begin();
      const [socket] = (await (outgoing.socket === null ? once(outgoing, "socket") : [outgoing.socket])) as [
        Socket,
      ];
      // The answer and the end of the connection wait at the front at one moment.
      if (isFirst) broker.answer({ id, isWatched: true });
      socket.destroy();
      if (!isFirst) broker.answer({ id, isWatched: true });
      await broker.until(() => broker.events.length > 0);
      expect(broker.events.splice(0)).toEqual([`gone ${id}`]);
      broker.requests.length = 0;
    }
  });

  it("has got its answer, or has not: who is watched is told of in either case", async () => {
    const { outgoing, id } = await begin();
    const answered = once(outgoing, "response");
    broker.answer({ id, isWatched: true });
    await answered;
    await broker.until(() => broker.events.length > 0);
    expect(broker.events).toEqual([`written ${id}`]);
  });
});

describe("other connections", () => {
  it("are the first Worker's, byte for byte", async () => {
    const response = await fetch(at("/orders?a=1"), { method: "PUT", body: "12345" });
    expect(await response.text()).toBe(`worker: PUT /orders?a=1 127.0.0.1:${front.port} 5`);
    expect(await (await fetch(at("/__sluice/health"))).text()).toContain("worker: GET /__sluice/health");
  });

  it("may become anything", async () => {
    const socket = connect(front.port, "127.0.0.1");
    socket.write("GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
    let read = "";
    socket.on("data", (chunk) => {
      read += chunk;
      if (read.endsWith("\r\n\r\n")) socket.write("hello");
      if (read.endsWith("hello")) socket.end();
    });
    await once(socket, "close");
    expect(read).toMatch(/^HTTP\/1\.1 101 .*hello$/s);
  });

  it("that come a byte at a time are told apart", async () => {
    for (const [path, expected] of [
      ["/__sluice/awake", "worker: POST /__sluice/awake"],
      [`${AWS}/`, "answer"],
    ]) {
      const socket = connect({ port: front.port, host: "127.0.0.1", noDelay: true });
      for (const byte of `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`) {
        socket.write(byte);
        await new Promise((resolve) => setImmediate(resolve));
      }
      if (expected === "answer") await answerRequests();
      let read = "";
      for await (const chunk of socket.setEncoding("utf8")) {
        read += chunk;
        if (read.includes(`${expected}`)) break;
      }
      expect(read).toContain(expected);
    }
  });

  it("that end before they say anything cost nothing", async () => {
    const socket = connect(front.port, "127.0.0.1");
    socket.end();
    socket.resume();
    await once(socket, "close");
    expect(await (await fetch(at("/"))).text()).toContain("worker: GET /");
  });

  it("end with their server", async () => {
    worker.closeAllConnections();
    worker.close();
    await once(worker, "close");
    await expect(fetch(at("/"))).rejects.toThrow();
  });
});

describe("the link to the broker", () => {
  it("when it is lost leaves nobody waiting; requests go by themselves until there is another", async () => {
    const lost = post("lost").then(
      () => "answered",
      () => "reset",
    );
    await broker.until(() => broker.requests.length === 1);
    broker.requests.length = 0;
    broker.hangUp();
    expect(await lost).toBe("reset");
    expect(await (await post("x")).text()).toContain("worker: POST");
    await broker.until(() => broker.tokens.length === 2);
    let said = "";
    for (let isFramed = false; !isFramed; ) {
      const response = post("again");
      isFramed = await Promise.race([
        broker.until(() => broker.requests.length > 0).then(() => true),
        response.then(() => false),
      ]);
      if (isFramed) await answerRequests();
      said = await (await response).text();
    }
    expect(said).toMatch(/^answer \d+$/);
  });

  it("that cannot be made is said, and costs nobody an answer", async () => {
    const workerd = { http: portOf(worker), frames: portOf(worker) };
    worker.removeAllListeners("upgrade");
    worker.on("upgrade", (_incoming, socket) => socket.end("HTTP/1.1 403 Forbidden\r\n\r\n"));
    const told: string[] = [];
    let attempts = 0;
    const tried = new Promise<void>((resolve) => {
      worker.on("upgrade", () => ++attempts === 3 && resolve());
    });
    const warn = (text: string) => void told.push(text);
    const other = await startFront({
      host: "127.0.0.1",
      port: 0,
      workerd,
      token: "",
      warn,
    });
    await tried;
    expect(told).toEqual([
      expect.stringMatching(/^the connection to the broker failed, .*: Unexpected server response: 403$/),
    ]);
    const response = await fetch(`http://127.0.0.1:${other.port}${AWS}/`, { method: "POST", body: "x" });
    expect(await response.text()).toContain("worker: POST");
    other.destroy();
  });
});

describe("a front", () => {
  it("says that its port is somebody else's, and nothing of a connection to the broker that it has no more use for", async () => {
    const workerd = { http: portOf(worker), frames: broker.port };
    const warnings: string[] = [];
    const warn = (text: string) => void warnings.push(text);
    const second = startFront({
      host: "127.0.0.1",
      port: front.port,
      workerd,
      token: "",
      warn,
    });
    await expect(second).rejects.toThrow(CliError);
    await expect(second).rejects.toThrow(
      `127.0.0.1:${front.port} is in use by another process. Choose another port with --port.`,
    );
    // The connection that is given up says so in the turn that follows.
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
  });

  it("that is to stop listens no more and lets end what was begun", async () => {
    const answered = post("x");
    await broker.until(() => broker.requests.length === 1);
    const stopped = front.stop(new AbortController().signal);
    const [error] = await once(connect(front.port, "127.0.0.1"), "error");
    expect(error).toMatchObject({ code: "ECONNREFUSED" });
    await broker.until(() => broker.events.includes("stopping"));
    await answerRequests();
    expect(await (await answered).text()).toMatch(/^answer/);
    await stopped;
  });

  it("stops at once when it is told to", async () => {
    const answered = post("x").catch(() => "reset");
    await broker.until(() => broker.requests.length === 1);
    const atOnce = new AbortController();
    const stopped = front.stop(atOnce.signal);
    atOnce.abort();
    await stopped;
    expect(await answered).toBe("reset");
  });
});
