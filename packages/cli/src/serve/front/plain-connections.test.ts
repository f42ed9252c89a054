import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NearBroker } from "../../../test/near-broker.ts";
import { RawClient } from "../../../test/raw-client.ts";
import { FrameLink, NEAR } from "./frame-link.ts";
import { LOOK_MS, PlainConnections } from "./plain-connections.ts";
import { FRAMED_BYTES_MAX, FRAMED_HEADERS_LENGTH_MAX } from "./plain-post.ts";

const KEEP_ALIVE_MS = 75_000;
/** More than goes to a client that does not read. */
const MUCH = "x".repeat(50_000_000);
const FRAMED = "POST /framed HTTP/1.1\r\nHost: a\r\n";
const post = (body: string, first = FRAMED) => `${first}Content-Length: ${body.length}\r\n\r\n${body}`;

let broker: NearBroker;
let plain: PlainConnections;
let server: Server;
/** Requests that are begun and not ended. */
let underWay: number;
/** Connections that were handed on, and the bytes that were with them. */
let handedOn: string[];
/** The server's ends of all connections. */
let sockets: Socket[];
const open = () => RawClient.open((server.address() as AddressInfo).port);

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  broker = new NearBroker();
  [underWay, handedOn, sockets] = [0, [], []];
  plain = new PlainConnections({
    link: new FrameLink({ open: broker.carrier, ...NEAR }),
    isFramed: ({ target }) => target === "/framed",
    keepAliveMs: KEEP_ALIVE_MS,
    others: (socket, bytes) => {
      handedOn.push(bytes.toString("latin1"));
      socket.on("error", () => {}).end("handed on");
    },
    began: () => {
      underWay += 1;
    },
    ended: () => {
      underWay -= 1;
    },
  });
  server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.push(socket);
    plain.accept(socket);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
});

afterEach(() => {
  plain.destroy();
  server.close();
  for (const socket of sockets) socket.destroy();
  vi.useRealTimers();
});

describe("a plain connection", () => {
  it("answers one request after the other, and is kept", async () => {
    const client = await open();
    for (const [times, body] of ["x", "", "xyz"].entries()) {
      await client.write(post(body));
      await client.said(`framed: ${body.length}`);
      expect(client.text.match(/Keep-Alive: timeout=75\r\n/g)).toHaveLength(times + 1);
    }
    expect(broker.requests.map(({ body }) => body)).toEqual(["x", "", "xyz"]);
    expect(broker.requests[0]).toMatchObject({
      ...{ method: "POST", url: "http://a/framed", headers: { host: "a", "content-length": "1" } },
    });
    expect([handedOn, underWay]).toEqual([[], 0]);
  });

  it("waits for the body, however it comes", async () => {
    const client = await open();
    const [head, body] = [post("x".repeat(50)).slice(0, -50), "y".repeat(50)];
    await client.write(head);
    for (const byte of body) {
      expect(broker.requests).toEqual([]);
      await client.write(byte);
    }
    await client.said("framed: 50");
    await client.write(post("z"));
    await client.said("framed: 1");
    expect(broker.requests.map((request) => request.body)).toEqual([body, "z"]);
    expect(handedOn).toEqual([]);
  });

  it.each([
    ["another request", post("x", "POST /other HTTP/1.1\r\nHost: a\r\n")],
    ["a head that is not all here", FRAMED],
    ["a body that is no text", post("\xff")],
    ["several requests at once", post("x") + post("y")],
    ["a request and the beginning of the next", post("x") + FRAMED],
  ])("is handed on with %s, and all its bytes", async (_, text) => {
    const client = await open();
    await client.write(post("x"));
    await client.said("framed");
    await client.write(Buffer.from(text, "latin1"));
    await client.said("handed on");
    expect(handedOn).toEqual([text]);
    expect([broker.requests.length, underWay]).toEqual([1, 0]);
  });

  it("reads what has come before the answer when that is written", async () => {
    broker.onFrame = () => {};
    const client = await open();
    await client.write(post("a"));
    await broker.until(() => broker.requests.length === 1);
    await client.write(post("bc").slice(0, -5));
    await client.write(post("bc").slice(-5));
    expect(broker.requests).toHaveLength(1);
    broker.answer(...broker.requests);
    await client.said("framed: 1");
    await broker.until(() => broker.requests.length === 2);
    broker.answer(...broker.requests.slice(1));
    await client.said("framed: 2");
    expect(handedOn).toEqual([]);
  });

  it("is not read any further while it has much to say before its answer", async () => {
    broker.onFrame = () => {};
    const client = await open();
    await client.write(post("a"));
    await broker.until(() => broker.requests.length === 1);
    const [socket] = sockets as [Socket];
    const much = FRAMED_BYTES_MAX + FRAMED_HEADERS_LENGTH_MAX;
    await client.write("x".repeat(much));
    while (socket.bytesRead < much) await once(socket, "data");
    expect(socket.isPaused()).toBe(false);
    await client.write("y");
    while (!socket.isPaused()) await once(socket, "data");
    broker.answer(...broker.requests);
    await client.said("handed on");
    expect(handedOn).toEqual([`${"x".repeat(much)}y`]);
    expect(socket.isPaused()).toBe(false);
  });

  it("is closed with an answer that nobody knows, or that cannot be written", async () => {
    for (const fail of [
      () => broker.lose(),
      () => broker.answerWith({ headers: { "x-a": "\n" } }, ...broker.requests),
    ]) {
      broker.onFrame = () => {};
      const before = broker.requests.length;
      const client = await open();
      await client.write(post("a"));
      await broker.until(() => broker.requests.length > before);
      expect(underWay).toBe(1);
      fail();
      await client.ended();
      expect([client.text, underWay]).toEqual(["", 0]);
    }
  });
});

describe("the client of a plain connection", () => {
  const begin = async () => {
    broker.onFrame = () => {};
    const before = broker.requests.length;
    const client = await open();
    await client.write(post("a"));
    await broker.until(() => broker.requests.length > before);
    const [request] = broker.requests.slice(-1) as [(typeof broker.requests)[number]];
    const [socket] = sockets.slice(-1) as [Socket];
    return { client, request, socket };
  };

  it.each([
    ["ends its side", (client: RawClient) => client.socket.end()],
    ["resets it", (client: RawClient) => client.socket.resetAndDestroy()],
  ])("is told of at once when it %s, and gets no answer", async (_, leave) => {
    const { client, request, socket } = await begin();
    const closed = new Promise((resolve) => socket.on("close", resolve));
    leave(client);
    await broker.until(() => broker.said.length > 0);
    broker.answer(request);
    await closed;
    expect([broker.said, underWay, client.text]).toEqual([[`gone ${request.id}`], 0, ""]);
  });

  it("that ends its side between requests, or in the middle of one, is left", async () => {
    for (const text of ["", post("abc").slice(0, -1)]) {
      const client = await open();
      await client.write(text);
      client.socket.end();
      await client.closed;
      expect(client.text).toBe("");
    }
    expect([broker.requests, handedOn, underWay]).toEqual([[], [], 0]);
  });

  it("has taken a watched answer when that is written", async () => {
    const { client, request } = await begin();
    broker.answerWith({ isWatched: true }, request);
    await broker.until(() => broker.said.length > 0);
    expect(broker.said).toEqual([`written ${request.id}`]);
    await client.said("framed");
    client.socket.destroy();
  });

  it("has not taken it if it has gone when that is about to be written", async () => {
    for (const isFirst of [true, false]) {
      const { client, request, socket } = await begin();
      const before = broker.said.length;
      // The end is waiting to be read when the answer comes.
      if (isFirst) broker.answerWith({ isWatched: true }, request);
      socket.emit("end");
      if (!isFirst) broker.answerWith({ isWatched: true }, request);
      await broker.until(() => broker.said.length > before);
      expect(broker.said.slice(before)).toEqual([`gone ${request.id}`]);
      await client.ended();
      expect(client.text).toBe("");
    }
  });

  it("that ends its side is told of at once, though an earlier answer is still being written to it", async () => {
    const { client, request, socket } = await begin();
    client.socket.pause();
    broker.answerWith({ body: MUCH }, request);
    await client.write(post("b"));
    await broker.until(() => broker.requests.length === 2);
    await client.write(post("c").slice(0, -1));
    client.socket.end();
    await broker.until(() => broker.said.length > 0);
    expect(broker.said).toEqual([`gone ${broker.requests[1]?.id}`]);
    expect([underWay, socket.writableFinished]).toEqual([0, false]);
    // Nobody waits for the rest of the request any more.
    vi.advanceTimersByTime(3 * LOOK_MS);
    client.socket.resume();
    await client.ended();
    expect(client.text.endsWith(MUCH)).toBe(true);
    expect(handedOn).toEqual([]);
  });

  it.each([
    ["its client resets it", (client: RawClient) => client.socket.resetAndDestroy()],
    ["the server does", (_: RawClient, socket: Socket) => socket.destroy()],
  ])("has not taken watched answers that were being written when %s", async (_, leave) => {
    const { client, request, socket } = await begin();
    client.socket.pause();
    broker.answerWith({ isWatched: true, body: MUCH }, request);
    while (socket.writableLength === 0) await new Promise((resolve) => setImmediate(resolve));
    // The next answer waits behind it, and then the connection is node:http's.
    await client.write(post("b"));
    await broker.until(() => broker.requests.length === 2);
    const [, second] = broker.requests;
    if (second === undefined) throw new Error("no second request");
    broker.answerWith({ isWatched: true }, second);
    await client.write("GET / HTTP/1.1\r\n\r\n");
    while (handedOn.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(broker.said).toEqual([]);
    leave(client, socket);
    await broker.until(() => broker.said.length === 2);
    expect(broker.said.toSorted()).toEqual([`gone ${request.id}`, `gone ${second.id}`].toSorted());
  });
});

describe("connections that nothing happens on", () => {
  const looks = (ms: number) => vi.advanceTimersByTime(ms);

  it("are closed after the time for which they are kept, and not before", async () => {
    const [silent, answered] = [await open(), await open()];
    looks(KEEP_ALIVE_MS - LOOK_MS);
    await answered.write(post("x"));
    await answered.said("framed");
    looks(LOOK_MS);
    expect(sockets.map((socket) => socket.destroyed)).toEqual([false, false]);
    looks(LOOK_MS);
    await silent.ended();
    looks(KEEP_ALIVE_MS - 2 * LOOK_MS);
    await answered.write(post("xy"));
    await answered.said("framed: 2");
    looks(KEEP_ALIVE_MS + LOOK_MS);
    await answered.ended();
    expect(handedOn).toEqual([]);
  });

  it("wait for an answer as long as it takes", async () => {
    broker.onFrame = () => {};
    const client = await open();
    await client.write(post("x"));
    await broker.until(() => broker.requests.length === 1);
    looks(10 * KEEP_ALIVE_MS);
    broker.answer(...broker.requests);
    await client.said("framed");
    looks(KEEP_ALIVE_MS);
    expect(sockets[0]?.destroyed).toBe(false);
  });

  it("are handed on when a request does not come to its end, though some of it comes", async () => {
    const client = await open();
    const text = post("xyz");
    looks(KEEP_ALIVE_MS);
    await client.write(text.slice(0, -2));
    while (sockets[0]?.bytesRead !== text.length - 2) await new Promise((resolve) => setImmediate(resolve));
    looks(LOOK_MS);
    await client.write(text.slice(-2, -1));
    while (sockets[0]?.bytesRead !== text.length - 1) await new Promise((resolve) => setImmediate(resolve));
    expect(handedOn).toEqual([]);
    looks(LOOK_MS);
    expect(handedOn).toEqual([text.slice(0, -1)]);
  });
});

describe("connections that are to stop", () => {
  it("are closed at once if nothing is under way", async () => {
    const [silent, answered] = [await open(), await open()];
    await answered.write(post("x"));
    await answered.said("framed");
    plain.stop();
    await Promise.all([silent.ended(), answered.ended()]);
    await plain.flushed();
  });

  it("are closed with the answer that they wait for; what is sent behind that is not begun", async () => {
    broker.onFrame = () => {};
    const client = await open();
    await client.write(post("x"));
    await broker.until(() => broker.requests.length === 1);
    await client.write(post("y"));
    plain.stop();
    client.socket.pause();
    broker.answerWith({ body: MUCH }, ...broker.requests);
    await client.write(post("z"));
    client.socket.resume();
    await plain.flushed();
    await client.ended();
    expect(client.text).toContain("\r\nConnection: close\r\n\r\n");
    expect(client.text.endsWith(MUCH)).toBe(true);
    expect([broker.requests.length, underWay, handedOn]).toEqual([1, 0, []]);
  });

  it("are handed on in the middle of a request", async () => {
    const client = await open();
    const text = post("xyz").slice(0, -1);
    await client.write(text);
    while (sockets[0]?.bytesRead !== text.length) await new Promise((resolve) => setImmediate(resolve));
    plain.stop();
    await plain.flushed();
    expect(handedOn).toEqual([text]);
  });
});
