import type { Socket } from "node:net";
import type { EndpointPort, EndpointRequest } from "@sluice/broker";
import { startDeafEndpoint } from "@sluice/broker/testing/http-endpoint";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { answer, type RawServer, startRawServer } from "./raw-server.ts";

/** Endpoint port under test. */
export interface StartedPort {
  readonly port: EndpointPort;
  stop(): Promise<void> | void;
}

/** Starts a server until the end of the test. */
export async function server(options: Parameters<typeof startRawServer>[0] = {}): Promise<RawServer> {
  const started = await startRawServer(options);
  onTestFinished(() => started.close());
  return started;
}

/** Makes a request with long timeouts. */
export function requestTo(url: string, changes: Partial<EndpointRequest> = {}): EndpointRequest {
  return {
    url,
    headers: {},
    body: new Uint8Array(),
    connectTimeoutMs: 30_000,
    responseTimeoutMs: 30_000,
    ...changes,
  };
}

/** Head of an answer whose body is sent in chunks. */
const STREAMED = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
/** Last chunk. */
const STREAM_END = "0\r\n\r\n";

/** Writes chunks of an answer for `forMs`, and never the last one. */
function drip(socket: Socket, forMs: number): void {
  const startMs = performance.now();
  socket.write(STREAMED);
  const drops = setInterval(() => {
    if (performance.now() - startMs > forMs) clearInterval(drops);
    socket.write("1\r\nx\r\n");
  }, 50);
  socket.once("close", () => clearInterval(drops));
}

/**
 * Tests an endpoint port on real connections: the requests of all formats and their outcomes (spec sqsd 3, 4).
 */
export function endpointPortSuite(name: string, start: () => Promise<StartedPort>): void {
  describe(name, () => {
    let started: StartedPort;
    let port: EndpointPort;
    beforeAll(async () => {
      started = await start();
      port = started.port;
    });
    afterAll(() => started.stop());

    it.each([0, 1, 262_144])(
      "posts %i bytes as they are, with a length, to path and query",
      async (length) => {
        const there = await server();
        const body = Uint8Array.from({ length }, (_, i) => i % 256);
        const headers = { "content-type": "application/x-any", "x-shop": "a b" };
        const outcome = await port.post(requestTo(`${there.url}a/b?c=d%20e#f`, { headers, body }));
        expect(outcome).toEqual({ kind: "answered", status: 200, retryAfter: null, challenge: null });
        const [request] = there.requests;
        expect(request?.line).toBe("POST /a/b?c=d%20e HTTP/1.1");
        expect(Buffer.compare(request?.body ?? Buffer.alloc(1), body)).toBe(0);
        const named = Object.fromEntries(
          request?.headers.map(([key, value]) => [key.toLowerCase(), value]) ?? [],
        );
        expect(named).toMatchObject({
          ...headers,
          "content-length": String(length),
          host: new URL(there.url).host,
        });
        for (const unwanted of [
          "transfer-encoding",
          "accept",
          "accept-language",
          "sec-fetch-mode",
          "user-agent",
        ]) {
          expect(named).not.toHaveProperty(unwanted);
        }
      },
    );

    it("sends the bytes of a header's text in UTF-8 unchanged", async () => {
      const there = await server();
      const bytes = Buffer.from("Zoë €").toString("latin1");
      await port.post(requestTo(there.url, { headers: { "x-any": bytes } }));
      expect(there.requests[0]?.headers).toContainEqual([expect.stringMatching(/^x-any$/i), bytes]);
    });

    it.each([
      [200, {}, { retryAfter: null, challenge: null }],
      [204, {}, { retryAfter: null, challenge: null }],
      [302, { location: "/elsewhere" }, { retryAfter: null, challenge: null }],
      [
        401,
        { "www-authenticate": 'Digest realm="a", nonce="b"' },
        { retryAfter: null, challenge: 'Digest realm="a", nonce="b"' },
      ],
      [429, { "retry-after": "30" }, { retryAfter: "30", challenge: null }],
      [
        503,
        { "Retry-After": "Sat, 21 Nov 2026 12:00:30 GMT" },
        { retryAfter: "Sat, 21 Nov 2026 12:00:30 GMT", challenge: null },
      ],
      [599, {}, { retryAfter: null, challenge: null }],
    ] as const)("returns the answer %i, and follows no redirect", async (status, headers, more) => {
      const there = await server();
      there.on = (_, socket) => socket.write(answer(status, headers, status === 204 ? "" : "any body"));
      expect(await port.post(requestTo(there.url))).toEqual({ kind: "answered", status, ...more });
      expect(there.requests).toHaveLength(1);
    });

    it("counts a server as unreachable when Cloudflare answers so for it", async () => {
      const there = await server();
      there.on = (_, socket) => socket.write(answer(521));
      expect(await port.post(requestTo(there.url))).toMatchObject({ kind: "unreachable" });
    });

    it("does not wait for the end of an answer, and does not keep its connection", async () => {
      const there = await server();
      there.on = (_, socket) => {
        socket.write(STREAMED);
        const more = () => {
          if (socket.destroyed) return;
          socket.write(`4000\r\n${"x".repeat(16_384)}\r\n`);
          setImmediate(more);
        };
        more();
      };
      expect(await port.post(requestTo(there.url))).toMatchObject({ kind: "answered", status: 200 });
      await there.ended(1);
    });

    it("waits for the end of an answer that is to be whole", async () => {
      const there = await server();
      const events: string[] = [];
      there.on = async ({ line }, socket) => {
        if (!line.includes("/whole")) return void socket.write(answer(200));
        socket.write(`${STREAMED}4\r\nhalf\r\n`);
        // A whole other request takes place meanwhile.
        await port.post(requestTo(there.url));
        events.push("ended");
        socket.write(STREAM_END);
      };
      const outcome = await port.post(requestTo(`${there.url}whole`, { wholeAnswerTimeoutMs: 30_000 }));
      events.push("answered");
      expect(outcome).toEqual({ kind: "answered", status: 200, retryAfter: null, challenge: null });
      expect(events).toEqual(["ended", "answered"]);
    });

    it.each([
      ["an empty answer", answer(200)],
      ["an answer with a length", answer(200, {}, "x".repeat(100_000))],
      ["an answer without a body", "HTTP/1.1 204 None\r\n\r\n"],
      ["a streamed answer", `${STREAMED}4\r\nbody\r\n${STREAM_END}`],
    ])("takes %s that is to be whole", async (_, bytes) => {
      const there = await server();
      there.on = (_request, socket) => socket.write(bytes);
      const request = requestTo(there.url, { wholeAnswerTimeoutMs: 30_000 });
      expect(await port.post(request)).toMatchObject({ kind: "answered" });
    });

    it.each([
      ["before its length", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"],
      ["in the middle of a stream", `${STREAMED}4\r\nhalf\r\n`],
    ])("is closed where an answer that is to be whole ends %s", async (_, bytes) => {
      const there = await server();
      there.on = (_request, socket) => socket.end(bytes);
      const outcome = await port.post(requestTo(there.url, { wholeAnswerTimeoutMs: 30_000 }));
      expect(outcome).toMatchObject({
        kind: "closed",
        reason: expect.stringMatching(/^its answer breaks off/),
        isBegun: true,
      });
      expect(there.requests).toHaveLength(1);
    });

    it.each([
      ["before its length", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"],
      ["in the middle of a stream", `${STREAMED}4\r\nhalf\r\n`],
    ])("takes an answer whose body, which is not needed, breaks off %s", async (_, bytes) => {
      const there = await server();
      there.on = (_request, socket) => void socket.write(bytes, () => socket.resetAndDestroy());
      expect(await port.post(requestTo(there.url))).toMatchObject({ kind: "answered", status: 200 });
      expect(there.requests).toHaveLength(1);
    });

    it("is timed out where an answer that is to be whole stops, however long it has gone on", async () => {
      const there = await server();
      there.on = (_, socket) => drip(socket, 1_500);
      const times = { responseTimeoutMs: 1_000, wholeAnswerTimeoutMs: 30_000 };
      const startMs = performance.now();
      const outcome = await port.post(requestTo(there.url, times));
      expect(outcome).toEqual({ kind: "timedOut", reason: "its answer did not go on within 1 s" });
      expect(performance.now() - startMs).toBeGreaterThan(2_000);
      await there.ended(1);
    });

    it("is timed out where an answer that is to be whole does not end", async () => {
      const there = await server();
      there.on = (_, socket) => drip(socket, Infinity);
      const times = { responseTimeoutMs: 1_000, wholeAnswerTimeoutMs: 1_500 };
      const outcome = await port.post(requestTo(there.url, times));
      expect(outcome).toEqual({ kind: "timedOut", reason: "its answer did not end within 1.5 s" });
      await there.ended(1);
    });

    it("is unreachable without a server", async () => {
      const there = await startRawServer();
      await there.close();
      expect(await port.post(requestTo(there.url))).toMatchObject({ kind: "unreachable" });
    });

    it("is unreachable without a connection in time", async () => {
      const deaf = await startDeafEndpoint();
      onTestFinished(async () => void (await deaf.close()));
      const outcome = await port.post(
        requestTo(`http://127.0.0.1:${deaf.port}/`, { connectTimeoutMs: 1_000 }),
      );
      expect(outcome).toEqual({ kind: "unreachable", reason: "no connection within 1 s" });
    });

    it("is closed where the connection ends without an answer", async () => {
      const there = await server();
      there.on = ({ line }, socket) => {
        if (line.startsWith("POST")) socket.destroy();
        else socket.write(answer(200));
      };
      const outcome = await port.post(requestTo(there.url));
      expect(outcome).toMatchObject({ kind: "closed", reason: "it closed the connection without an answer" });
      expect(there.requests.filter(({ line }) => line.startsWith("POST"))).toHaveLength(1);
    });

    it("is timed out with a connection but without an answer", async () => {
      const there = await server();
      there.on = () => {};
      const startMs = performance.now();
      const outcome = await port.post(
        requestTo(there.url, { connectTimeoutMs: 100, responseTimeoutMs: 1_000 }),
      );
      expect(outcome).toEqual({ kind: "timedOut", reason: "it did not answer within 1 s" });
      expect(performance.now() - startMs).toBeGreaterThan(990);
    });

    it("is timed out with only half of an answer's head", async () => {
      const there = await server();
      there.on = (_, socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-le");
      const outcome = await port.post(requestTo(there.url, { responseTimeoutMs: 500 }));
      expect(outcome).toEqual({ kind: "timedOut", reason: "it did not answer within 0.5 s" });
    });

    it("delivers to a server that has closed its idle connection meanwhile", async () => {
      const there = await server();
      for (let i = 1; i <= 10; i++) {
        expect(await port.post(requestTo(there.url))).toMatchObject({ kind: "answered", status: 200 });
        there.hangUp();
        await there.ended(there.connections);
      }
      expect(there.requests).toHaveLength(10);
    });

    it("reaches an IPv6 address", async () => {
      const there = await server({ host: "::1" });
      expect(await port.post(requestTo(there.url))).toMatchObject({ kind: "answered" });
      expect(there.requests[0]?.headers).toContainEqual([
        expect.stringMatching(/^host$/i),
        new URL(there.url).host,
      ]);
    });

    it("checks readiness: without a path by any answer, with one by a 200", async () => {
      const there = await server();
      let status = 503;
      there.on = (_, socket) => socket.write(answer(status));
      expect(await port.isReady(`${there.url}hook?a=b`, null, 30_000)).toBe(true);
      expect(await port.isReady(`${there.url}hook?a=b`, "/ready", 30_000)).toBe(false);
      status = 204;
      expect(await port.isReady(`${there.url}hook`, "/ready", 30_000)).toBe(false);
      status = 200;
      expect(await port.isReady(`${there.url}hook`, "/ready?all=1", 30_000)).toBe(true);
      // The server answers at any path.
      expect(await port.isReady(`${there.url}hook`, "//nobody.invalid/ready", 30_000)).toBe(true);
      expect(there.requests.map(({ line }) => line)).toEqual([
        "HEAD /hook?a=b HTTP/1.1",
        "GET /ready HTTP/1.1",
        "GET /ready HTTP/1.1",
        "GET /ready?all=1 HTTP/1.1",
        "GET //nobody.invalid/ready HTTP/1.1",
      ]);
    });

    it("is not ready without a server, or without an answer in time", async () => {
      const there = await server();
      there.on = () => {};
      for (const path of [null, "/ready"]) expect(await port.isReady(there.url, path, 200)).toBe(false);
      const gone = await startRawServer();
      await gone.close();
      for (const path of [null, "/ready"]) expect(await port.isReady(gone.url, path, 30_000)).toBe(false);
    });
  });
}
