import { once } from "node:events";
import { Agent, createServer, request, type Server } from "node:http";
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from "node:net";
import { text } from "node:stream/consumers";
import { CliError } from "@sluice/project/errors";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Ingress } from "../http/ingress.ts";
import { startProxy } from "./proxy.ts";

/** Answers in the place of workerd. */
let worker: Server;
/** Where it is; `null` while it does not run. */
let workerd: number | null;
let proxy: Ingress;
const portOf = (server: TcpServer) => (server.address() as AddressInfo).port;
const at = (path: string) => `http://127.0.0.1:${proxy.port}${path}`;
const start = (port = 0) => startProxy({ host: "127.0.0.1", port, workerd: () => workerd });

beforeEach(async () => {
  worker = createServer(async (incoming, response) => {
    const body = await text(incoming);
    response.end(`worker: ${incoming.method} ${incoming.url} ${incoming.headers.host} ${body.length}`);
  });
  worker.on("upgrade", (_incoming, socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
    socket.pipe(socket);
  });
  await once(worker.listen(0, "127.0.0.1"), "listening");
  workerd = portOf(worker);
  proxy = await start();
});

afterEach(() => {
  proxy.destroy();
  worker.closeAllConnections();
  worker.close();
});

describe("connections", () => {
  it("are the first Worker's, byte for byte", async () => {
    const response = await fetch(at("/orders?a=1"), { method: "PUT", body: "12345" });
    expect(await response.text()).toBe(`worker: PUT /orders?a=1 127.0.0.1:${proxy.port} 5`);
    expect(await (await fetch(at("/__sluice/health"))).text()).toContain("worker: GET /__sluice/health");
  });

  it("may become anything", async () => {
    const socket = connect(proxy.port, "127.0.0.1");
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

  it("may come a byte at a time", async () => {
    const socket = connect({ port: proxy.port, host: "127.0.0.1", noDelay: true });
    for (const byte of "POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n") {
      socket.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    let read = "";
    for await (const chunk of socket.setEncoding("utf8")) {
      read += chunk;
      if (read.includes("worker: POST /a")) break;
    }
  });

  it("that end before they say anything cost nothing", async () => {
    const socket = connect(proxy.port, "127.0.0.1");
    socket.end();
    socket.resume();
    await once(socket, "close");
    expect(await (await fetch(at("/"))).text()).toContain("worker: GET /");
  });

  it("that their server refuses are answered with 503", async () => {
    worker.closeAllConnections();
    worker.close();
    await once(worker, "close");
    expect((await fetch(at("/"))).status).toBe(503);
  });
});

describe("while workerd does not run", () => {
  const raw = async (text: string) => {
    const socket = connect(proxy.port, "127.0.0.1");
    socket.write(text);
    let answer = "";
    for await (const chunk of socket) answer += chunk;
    return answer;
  };

  it.each(["/", "/__sluice/health", "/__sluice/aws/"])("requests are answered with 503: %s", async (path) => {
    workerd = null;
    const response = await fetch(at(path), { method: "POST", body: "x" });
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
    expect(await response.text()).toMatch(/started again/);
  });

  it("a request is that whose connection is lost before an answer has begun", async () => {
    worker.removeAllListeners("request");
    worker.on("request", ({ socket }) => socket.resetAndDestroy());
    expect((await fetch(at("/"))).status).toBe(503);
    worker.removeAllListeners("request");
    worker.on("request", ({ socket }) => socket.end());
    expect((await fetch(at("/"))).status).toBe(503);
  });

  it("a request is that on a connection that others were answered on", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const statusOf = () =>
      new Promise<number | undefined>((resolve, reject) => {
        request(at("/"), { agent }, (response) => {
          response.resume().on("end", () => resolve(response.statusCode));
        })
          .on("error", reject)
          .end();
      });
    expect(await statusOf()).toBe(200);
    worker.removeAllListeners("request");
    worker.on("request", ({ socket }) => socket.resetAndDestroy());
    expect(await statusOf()).toBe(503);
    agent.destroy();
  });

  it("what is said over a connection that is none of HTTP's any more is none", async () => {
    worker.removeAllListeners("upgrade");
    worker.on("upgrade", (_incoming, socket) => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
      socket.once("data", () => socket.end());
    });
    const socket = connect(proxy.port, "127.0.0.1");
    socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
    await once(socket, "data");
    socket.write("a word");
    let more = "";
    for await (const chunk of socket) more += chunk;
    expect(more).toBe("");
  });

  it("one that was answered in part is not: its connection is closed", async () => {
    worker.removeAllListeners("request");
    worker.on("request", (_incoming, response) => {
      response.writeHead(200, { "content-length": 10 });
      response.write("part", () => response.socket?.resetAndDestroy());
    });
    const answer = await raw("GET / HTTP/1.1\r\nHost: a\r\n\r\n").catch(() => "");
    expect(answer).not.toContain("503");
  });

  it("and is where it was not before, everything goes there", async () => {
    const port = portOf(worker);
    workerd = null;
    expect((await fetch(at("/"))).status).toBe(503);
    workerd = port;
    expect(await (await fetch(at("/"))).text()).toContain("worker: GET /");
  });
});

describe("a client that goes", () => {
  it("is gone for workerd, too", async () => {
    worker.removeAllListeners("request");
    const asked = once(worker, "request");
    const outgoing = request(at("/"), { method: "POST" }).on("error", () => {});
    outgoing.end("x");
    const [{ socket }] = await asked;
    outgoing.destroy();
    await once(socket, "close");
  });
});

describe("a proxy", () => {
  it("says that its port is somebody else's", async () => {
    const second = start(proxy.port);
    await expect(second).rejects.toThrow(CliError);
    await expect(second).rejects.toThrow(
      `127.0.0.1:${proxy.port} is in use by another process. Choose another port with --port.`,
    );
  });

  it("that is to stop listens no more, closes what is quiet and lets end what was begun", async () => {
    const quiet = connect(proxy.port, "127.0.0.1");
    quiet.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await once(quiet, "data");
    worker.removeAllListeners("request");
    const asked = once(worker, "request");
    const answered = fetch(at("/"));
    const [, response] = await asked;
    const stopped = proxy.stop(new AbortController().signal);
    await once(quiet, "close");
    const [error] = await once(connect(proxy.port, "127.0.0.1"), "error");
    expect(error).toMatchObject({ code: "ECONNREFUSED" });
    response.end("done");
    expect(await (await answered).text()).toBe("done");
    await stopped;
  });

  it.each([
    ["is small and comes in parts", Array.from({ length: 5 }, (_, n) => `part ${n} `)],
    ["is larger than what the connection buffers", ["x".repeat(4_000_000)]],
  ])("that is to stop writes all of an answer that has begun and %s", async (_, parts) => {
    const whole = parts.join("");
    // As workerd, and other than Node.js' server: it goes on with an answer when no more requests can come.
    const halfOpen = createTcpServer({ allowHalfOpen: true });
    await once(halfOpen.listen(0, "127.0.0.1"), "listening");
    workerd = portOf(halfOpen);
    const begun = once(halfOpen, "connection");
    const asked = fetch(at("/"));
    const [socket]: Socket[] = await begun;
    socket?.resume().write(`HTTP/1.1 200 OK\r\ncontent-length: ${whole.length}\r\n\r\n`);
    const response = await asked;
    const noMore = once(socket as Socket, "end");
    const stopped = proxy.stop(new AbortController().signal);
    await noMore;
    for (const part of parts) {
      await new Promise((resolve) => setImmediate(resolve));
      socket?.write(part);
    }
    socket?.end();
    halfOpen.close();
    expect((await response.text()) === whole).toBe(true);
    await stopped;
  });

  it("that is to stop ends connections on which others were answered, as workerd does", async () => {
    const agent = new Agent({ keepAlive: true });
    const outgoing = request(at("/"), { agent }).end();
    const [incoming] = await once(outgoing, "response");
    await text(incoming);
    await proxy.stop(new AbortController().signal);
    agent.destroy();
  });

  it("stops at once when it is told to, or has nothing to do", async () => {
    worker.removeAllListeners("request");
    const asked = once(worker, "request");
    const answered = fetch(at("/")).catch(() => "reset");
    await asked;
    const atOnce = new AbortController();
    const stopped = proxy.stop(atOnce.signal);
    atOnce.abort();
    await stopped;
    proxy.destroy();
    expect(await answered).toBe("reset");
    proxy = await start();
    await proxy.stop(new AbortController().signal);
  });
});
