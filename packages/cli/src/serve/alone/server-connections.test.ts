import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { NearBroker } from "../../../test/near-broker.ts";
import { RawClient } from "../../../test/raw-client.ts";
import type { Front } from "../front/front.ts";
import { startServer } from "./server.ts";

const HEAD = "POST /__sluice/aws HTTP/1.1\r\nHost: a\r\n";
const post = (body: string) => `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`;

let server: Front;
let broker: NearBroker;
const open = async () => {
  const client = await RawClient.open(server.port);
  onTestFinished(() => void client.socket.destroy());
  return client;
};

beforeEach(async () => {
  broker = new NearBroker();
  server = await startServer({ host: "127.0.0.1", port: 0, broker });
});

afterEach(() => server.destroy());

describe("a connection", () => {
  it("may come a byte at a time, request after request", async () => {
    const client = await open();
    for (const [times, body] of ["abc", "de"].entries()) {
      for (const byte of post(body)) await client.write(byte);
      await client.said("framed", times + 1);
    }
    expect(client.text).toMatch(/framed: 3HTTP.*framed: 2$/s);
  });

  it.each([
    ["a GET", "GET /x HTTP/1.1\r\nHost: a\r\n\r\n", "fetched: GET /x 0"],
    [
      "a body in chunks",
      `${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n`,
      `POST /__sluice/aws 2`,
    ],
    ["a body that is no text", post("\xff"), "fetched: POST /__sluice/aws 1"],
    ["a body to wait for", post("ab").replace("Host", "Expect: 100-continue\r\nHost"), "framed: 2"],
    ["no HTTP", "HELO a\r\n\r\n", "HTTP/1.1 400 Bad Request"],
  ])("that has carried plain requests may go on with %s, and then with plain ones", async (_, text, said) => {
    const client = await open();
    await client.write(post("x"));
    await client.said("framed: 1");
    await client.write(Buffer.from(text, "latin1"));
    await client.said(said);
    if (said.includes("400")) return;
    await client.write(post("abcde"));
    await client.said("framed: 5");
    expect(client.text.match(/^Keep-Alive: timeout=75\r$/gm)?.length).toBeGreaterThan(1);
  });

  it.each([
    ["at once", post("1") + post("22") + post("333")],
    ["with others among them", `${post("1")}GET /__sluice/health HTTP/1.1\r\nHost: a\r\n\r\n${post("333")}`],
  ])("gets the answers to requests that come %s in their order", async (_, text) => {
    const client = await open();
    await client.write(text);
    await client.said("framed: 3");
    expect(client.text).toMatch(/framed: 1HTTP.*(framed: 2|fetched: GET).*framed: 3$/s);
  });

  it("gets them in their order when the later ones come while the first is being answered", async () => {
    broker.onFrame = () => {};
    const client = await open();
    await client.write(post("1"));
    await broker.until(() => broker.requests.length === 1);
    await client.write(post("22") + post("333"));
    broker.answer(...broker.requests);
    await broker.until(() => broker.requests.length === 3);
    broker.answer(...broker.requests.slice(1).reverse());
    await client.said("framed: 3");
    expect(client.text).toMatch(/framed: 1HTTP.*framed: 2HTTP.*framed: 3$/s);
  });

  it("is closed with the last answer if its client wants that", async () => {
    const client = await open();
    await client.write(post("x"));
    await client.said("framed: 1");
    await client.write(post("yz").replace("Host", "Connection: close\r\nHost"));
    await client.ended();
    expect(client.text).toMatch(/Connection: close\r\n\r\nframed: 2$/);
  });
});

describe("a server that is to stop", () => {
  const never = new AbortController().signal;
  /** Whether it has stopped, by the time when all has happened that waits for nothing. */
  const isStopped = async (stopped: Promise<void>) => {
    const turns = async () => {
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      return false;
    };
    return Promise.race([stopped.then(() => true), turns()]);
  };

  it("waits for no connection on which nothing is under way", async () => {
    const [silent, plain, other] = [await open(), await open(), await open()];
    await plain.write(post("x"));
    await plain.said("framed");
    await other.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await other.said("fetched");
    expect(await isStopped(server.stop(never))).toBe(true);
    await Promise.all([silent.ended(), plain.ended(), other.ended()]);
  });

  it("closes them at once, also while it waits for an answer", async () => {
    broker.onFrame = () => {};
    const [waiting, idle] = [await open(), await open()];
    await waiting.write(post("x"));
    await broker.until(() => broker.requests.length === 1);
    const stopped = server.stop(never);
    await idle.ended();
    expect(await isStopped(stopped)).toBe(false);
    expect(broker.said).toEqual(["stopping"]);
    broker.answer(...broker.requests);
    await stopped;
    await waiting.ended();
    expect(waiting.text).toMatch(/Connection: close\r\n\r\nframed: 1$/);
  });

  it("answers a request that was coming in", async () => {
    const client = await open();
    await client.write(post("xyz").slice(0, -2));
    const stopped = server.stop(never);
    expect(await isStopped(stopped)).toBe(false);
    await client.write("yz");
    await client.said("framed: 3");
    await stopped;
  });

  it("has written all of an answer when it has stopped", async () => {
    const body = "x".repeat(20_000_000);
    broker.onFrame = () => {};
    const client = await open();
    await client.write(post("x"));
    await broker.until(() => broker.requests.length === 1);
    client.socket.pause();
    const stopped = server.stop(never);
    broker.answerWith({ body }, ...broker.requests);
    expect(await isStopped(stopped)).toBe(false);
    client.socket.resume();
    await stopped;
    server.destroy();
    await client.ended();
    expect(client.text.endsWith(`\r\n\r\n${body}`)).toBe(true);
  });
});
