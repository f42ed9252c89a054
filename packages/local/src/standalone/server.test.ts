import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { CliError } from "@sluice/project/errors";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { RawClient } from "../../test/raw-client.ts";
import type { Ingress } from "../http/ingress.ts";
import { startServer } from "./server.ts";

const never = new AbortController().signal;

let server: Ingress;
/** Requests that the broker was asked. */
let asked: Request[];
/** Handler that answers each of them. */
let answer: (request: Request) => Promise<Response>;
let tell: () => void;

const broker = {
  asksForSignatures: false,
  fetch: (incoming: Request) => {
    asked.push(incoming);
    tell();
    return answer(incoming);
  },
};
const start = (port = 0) => startServer({ host: "127.0.0.1", port, broker });
const at = (path: string) => `http://127.0.0.1:${server.port}${path}`;
const open = async () => {
  const client = await RawClient.open(server.port);
  onTestFinished(() => void client.socket.destroy());
  return client;
};
const post = (body: string) => `POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const untilAsked = async (count: number) => {
  while (asked.length < count) await new Promise<void>((resolve) => (tell = resolve));
};
/** Whether something has happened by the time when all has that waits for nothing. */
const hasHappened = async (what: Promise<unknown>) => {
  const turns = async () => {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    return false;
  };
  return Promise.race([what.then(() => true), turns()]);
};

beforeEach(async () => {
  [asked, tell] = [[], () => {}];
  answer = async (incoming) => new Response(`said: ${await incoming.text()}`, { headers: { "x-said": "a" } });
  server = await start();
});
afterEach(() => server.destroy());

describe("a request", () => {
  it("is the broker's as it came", async () => {
    const response = await fetch(at("/a%20b?c=d"), {
      method: "POST",
      body: "\u{feff}é",
      headers: { "x-a": "b" },
    });
    expect(await response.text()).toBe("said: é");
    expect(response.headers.get("x-said")).toBe("a");
    expect([asked[0]?.method, asked[0]?.url, asked[0]?.headers.get("x-a")]).toEqual([
      "POST",
      at("/a%20b?c=d"),
      "b",
    ]);
  });

  it("has a signal that tells of a client that goes before its answer", async () => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    answer = () => promise;
    const outgoing = request(at("/"), { method: "POST" }).on("error", () => {});
    outgoing.end("x");
    await untilAsked(1);
    const { signal } = asked[0] as Request;
    expect(signal.aborted).toBe(false);
    outgoing.destroy();
    await once(signal, "abort");
    resolve(new Response("late"));
    answer = async () => new Response("still there");
    expect(await (await fetch(at("/"))).text()).toBe("still there");
  });

  it("has a signal that tells of a client that ends its connection while its answer is written", async () => {
    answer = async () => new Response("x".repeat(20_000_000));
    const client = await open();
    await client.write(post("x"));
    await client.received("HTTP/1.1 200");
    const { signal } = asked[0] as Request;
    const aborted = once(signal, "abort");
    client.socket.destroy();
    await aborted;
  });

  it("that the broker fails on is answered with 500", async () => {
    answer = async () => {
      throw new Error("planned");
    };
    expect((await fetch(at("/"))).status).toBe(500);
  });

  it("gets its answer in its turn when several come at once", async () => {
    const client = await open();
    await client.write(post("1") + post("22") + post("333"));
    await client.received("said: 333");
    expect(client.text).toMatch(/said: 1HTTP.*said: 22HTTP.*said: 333$/s);
  });
});

describe("a server", () => {
  it("says that its port is somebody else's", async () => {
    const second = start(server.port);
    await expect(second).rejects.toThrow(CliError);
    await expect(second).rejects.toThrow(`127.0.0.1:${server.port} is in use by another process.`);
  });

  it("that is to stop waits for no connection on which nothing is under way", async () => {
    const [silent, used] = [await open(), await open()];
    await used.write(post("x"));
    await used.received("said");
    await server.stop(never);
    await Promise.all([silent.ended(), used.ended()]);
  });

  it("lets end what was begun, and listens no more", async () => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    answer = () => promise;
    const client = await open();
    await client.write(post("x"));
    await untilAsked(1);
    const stopped = server.stop(never);
    const [error] = await once(connect(server.port, "127.0.0.1"), "error");
    expect(error).toMatchObject({ code: "ECONNREFUSED" });
    expect(await hasHappened(stopped)).toBe(false);
    resolve(new Response("done"));
    await stopped;
    await client.ended();
    expect(client.text).toMatch(/Connection: close\r\n.*\r\n\r\ndone$/is);
  });

  it("answers a request that was coming in", async () => {
    const client = await open();
    await client.write(post("xyz").slice(0, -2));
    const stopped = server.stop(never);
    expect(await hasHappened(stopped)).toBe(false);
    await client.write("yz");
    await client.received("said: xyz");
    await stopped;
  });

  it("has written all of an answer when it has stopped", async () => {
    const body = "x".repeat(20_000_000);
    answer = async () => new Response(body);
    const client = await open();
    await client.write(post("x"));
    await untilAsked(1);
    client.socket.pause();
    const stopped = server.stop(never);
    expect(await hasHappened(stopped)).toBe(false);
    client.socket.resume();
    await stopped;
    server.destroy();
    await client.ended();
    expect(client.text.endsWith(`\r\n\r\n${body}`)).toBe(true);
  });

  it("stops at once when it is told to", async () => {
    answer = () => new Promise(() => {});
    const answered = fetch(at("/"), { method: "POST", body: "x" }).catch(() => "reset");
    await untilAsked(1);
    const atOnce = new AbortController();
    const stopped = server.stop(atOnce.signal);
    atOnce.abort();
    await stopped;
    server.destroy();
    expect(await answered).toBe("reset");
  });
});
