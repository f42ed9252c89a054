import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import type { FramedRequest } from "@sluice/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NearBroker } from "../../../test/near-broker.ts";
import { CliError } from "../../errors.ts";
import type { Front } from "../front/front.ts";
import { FRAMED_BYTES_MAX, FRAMED_HEADERS_LENGTH_MAX } from "../front/plain-post.ts";
import { startServer } from "./server.ts";

const AWS = "/__sluice/aws";
const JSON_CALL = { "x-amz-target": "AmazonSQS.SendMessage" };

let server: Front;
let broker: NearBroker;

const at = (path: string) => `http://127.0.0.1:${server.port}${path}`;
const start = (port = 0) => startServer({ host: "127.0.0.1", port, broker });

beforeEach(async () => {
  broker = new NearBroker();
  server = await start();
});

afterEach(() => server.destroy());

describe("what AWS's clients post", () => {
  it.each([
    ["/", JSON_CALL],
    ["/", { "content-type": "application/x-www-form-urlencoded; charset=utf-8" }],
    ["/000000000000/orders.fifo", JSON_CALL],
    [AWS, {}],
    [`${AWS}/000000000000/orders`, {}],
  ])("to %s with %j goes to the broker in a frame", async (path, headers) => {
    const response = await fetch(at(path), { method: "POST", headers, body: "é" });
    expect(await response.text()).toBe("framed: 1");
    expect(response.headers.get("x-a")).toBe("b");
    expect(broker.requests).toMatchObject([
      { method: "POST", url: at(path), body: "é", headers: { ...headers, "content-length": "2" } },
    ]);
  });

  it.each([
    ["/", { "content-type": "text/plain" }],
    ["/__sluice/api/clock", JSON_CALL],
    ["/orders?x=1", JSON_CALL],
    [`${AWS}x/`, {}],
    [`${AWS}/a%20b`, {}],
  ])("to %s with %j is the broker's to route", async (path, headers) => {
    const response = await fetch(at(path), { method: "POST", headers, body: "x" });
    expect(await response.text()).toBe(`fetched: POST ${path} 1`);
    expect(broker.frames).toEqual([]);
  });

  it.each([
    ["of the largest size that frames take", FRAMED_BYTES_MAX - 1, "framed"],
    ["of the largest size", FRAMED_BYTES_MAX, "framed"],
    ["of more", FRAMED_BYTES_MAX + 1, "fetched"],
  ])("%s goes in a frame or by itself; in chunks always by itself", async (_, bytes, way) => {
    const body = "x".repeat(bytes);
    const response = await fetch(at(`${AWS}/`), { method: "POST", body });
    const said = await response.text();
    expect(said).toBe(way === "framed" ? `framed: ${bytes}` : `fetched: POST ${AWS}/ ${bytes}`);
    const outgoing = request(at(`${AWS}/`), { method: "POST" });
    const answered = once(outgoing, "response");
    outgoing.write(body.slice(0, 10));
    outgoing.end(body.slice(10));
    const [chunked] = (await answered) as [IncomingMessage];
    expect(await text(chunked)).toBe(`fetched: POST ${AWS}/ ${bytes}`);
  });

  it.each([
    ["the longest that frames take", FRAMED_HEADERS_LENGTH_MAX, "framed"],
    ["more", FRAMED_HEADERS_LENGTH_MAX + 1, "fetched"],
    ["much more", 300_000, "fetched"],
  ])("with headers of %s goes in a frame or by itself", async (_, length, way) => {
    const headers = { Host: "localhost", Connection: "close", "Content-Length": "1", "X-Long": "" };
    const used = Object.entries(headers).flat().join("").length;
    const outgoing = request(at(`${AWS}/`), {
      method: "POST",
      headers: { ...headers, "X-Long": "x".repeat(length - used) },
    });
    const answered = once(outgoing, "response");
    outgoing.end("x");
    const [response] = (await answered) as [IncomingMessage];
    expect(await text(response)).toMatch(new RegExp(`^${way}`));
  });

  it.each([
    ["bytes that are no text", Uint8Array.of(0xc3, 0x28), 2],
    ["a byte order mark", Uint8Array.of(0xef, 0xbb, 0xbf, 0x78), 4],
  ])("with %s reaches the broker as it is", async (_, body, bytes) => {
    const response = await fetch(at(`${AWS}/`), { method: "POST", body });
    expect(await response.text()).toBe(`fetched: POST ${AWS}/ ${bytes}`);
    expect(response.headers.get("x-said")).toBe("a");
    expect(broker.frames).toEqual([]);
  });

  it("at one moment goes in one frame", async () => {
    const socket = connect(server.port, "127.0.0.1");
    const post = `POST ${AWS}/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx`;
    socket.write(post.repeat(3));
    let read = "";
    for await (const chunk of socket.setEncoding("utf8")) {
      read += chunk;
      if (read.split("framed").length === 4) break;
    }
    expect(broker.frames.map((frame) => frame.length)).toEqual([3]);
  });
});

describe("a client that goes", () => {
  const begin = async () => {
    broker.onFrame = () => {};
    const outgoing = request(at(`${AWS}/`), { method: "POST" });
    outgoing.on("error", () => {});
    outgoing.end("x");
    const before = broker.requests.length;
    await broker.until(() => broker.requests.length > before);
    const [asked] = broker.requests.slice(-1) as [FramedRequest];
    return { outgoing, asked };
  };

  it("is told of at once, and its answer goes nowhere", async () => {
    const { outgoing, asked } = await begin();
    outgoing.destroy();
    await broker.until(() => broker.said.length > 0);
    expect(broker.said).toEqual([`gone ${asked.id}`]);
    broker.answer(asked);
    broker.onFrame = (requests) => broker.answer(...requests);
    expect(await (await fetch(at(`${AWS}/`), { method: "POST", body: "y" })).text()).toBe("framed: 1");
  });

  it("has got its answer, or has not: who is watched is told of in either case", async () => {
    const taken = await begin();
    const answered = once(taken.outgoing, "response");
    broker.answerWith({ isWatched: true }, taken.asked);
    await answered;
    await broker.until(() => broker.said.length > 0);
    expect(broker.said).toEqual([`written ${taken.asked.id}`]);
    const lost = await begin();
    broker.answerWith({ isWatched: true }, lost.asked);
    lost.outgoing.socket?.destroy();
    await broker.until(() => broker.said.length > 1);
    expect(broker.said.slice(1)).toEqual([`gone ${lost.asked.id}`]);
  });
});

describe("other requests", () => {
  it("are answered with what the broker's fetch answers", async () => {
    const response = await fetch(at("/__sluice/health?a=1"));
    expect(await response.text()).toBe("fetched: GET /__sluice/health?a=1 0");
    const missing = await fetch(at("/missing"), { method: "PUT", body: "12345" });
    expect([missing.status, await missing.text()]).toEqual([404, "fetched: PUT /missing 5"]);
  });
});

describe("a server", () => {
  it("says that its port is somebody else's", async () => {
    const second = start(server.port);
    await expect(second).rejects.toThrow(CliError);
    await expect(second).rejects.toThrow(`127.0.0.1:${server.port} is in use by another process.`);
  });

  it("that is to stop listens no more and lets end what was begun", async () => {
    broker.onFrame = () => {};
    const answered = fetch(at(`${AWS}/`), { method: "POST", body: "x" });
    await broker.until(() => broker.frames.length > 0);
    let isStopped = false;
    const stopped = server.stop(new AbortController().signal).then(() => {
      isStopped = true;
    });
    const [error] = await once(connect(server.port, "127.0.0.1"), "error");
    expect(error).toMatchObject({ code: "ECONNREFUSED" });
    expect(isStopped).toBe(false);
    broker.answer(...broker.requests);
    expect(await (await answered).text()).toBe("framed: 1");
    await stopped;
  });

  it("stops at once when it is told to, or has nothing to do", async () => {
    broker.onFrame = () => {};
    const answered = fetch(at(`${AWS}/`), { method: "POST", body: "x" }).catch(() => "reset");
    await broker.until(() => broker.frames.length > 0);
    const atOnce = new AbortController();
    const stopped = server.stop(atOnce.signal);
    atOnce.abort();
    await stopped;
    server.destroy();
    expect(await answered).toBe("reset");
    server = await start();
    await server.stop(new AbortController().signal);
  });
});
