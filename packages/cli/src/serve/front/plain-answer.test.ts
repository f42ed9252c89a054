import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request } from "node:http";
import { type AddressInfo, createServer as createNetServer, type Server, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { RawClient } from "../../../test/raw-client.ts";
import { HTTP_LIMITS } from "./listen.ts";
import { type PlainAnswer, wireOf } from "./plain-answer.ts";

const KEEP_ALIVE_MS = HTTP_LIMITS.keepAliveTimeout;
const HEADERS = { "content-type": "application/x-amz-json-1.0", "x-amzn-RequestId": "1" };
const answerOf = (more: Partial<PlainAnswer> = {}): PlainAnswer => ({
  ...{ status: 200, headers: HEADERS, body: '{"a":1}' },
  ...more,
});
const ANSWERS: readonly [string, PlainAnswer][] = [
  ["text", answerOf()],
  ["nothing", answerOf({ body: "" })],
  ["text that is not ASCII", answerOf({ body: "é€😀" })],
  ["text that Latin-1 has", answerOf({ body: "é" })],
  ["much text", answerOf({ body: "é€😀x".repeat(100_000) })],
  ["an error", answerOf({ status: 400 })],
  ["a status without a name", answerOf({ status: 599 })],
  ["no headers", answerOf({ headers: {} })],
  ["a header of all that may be in one", answerOf({ headers: { "x-a": "\t !~;\"'", "x-empty": "" } })],
];

async function listening(server: Server): Promise<number> {
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

afterEach(() => vi.useRealTimers());

describe("an answer on the wire", () => {
  it.each(ANSWERS)("of %s is what an HTTP client reads", async (_, answer) => {
    const port = await listening(
      createNetServer((socket: Socket) => {
        socket.on("data", () => {
          const { text: wire, encoding } = wireOf(answer, KEEP_ALIVE_MS);
          socket.write(wire, encoding);
        });
      }),
    );
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    // The second one fails if the first was read to another end.
    for (let i = 0; i < 2; i += 1) {
      const outgoing = request({ port, host: "127.0.0.1", agent }).end();
      const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
      expect(outgoing.reusedSocket).toBe(i === 1);
      expect(incoming.statusCode).toBe(answer.status);
      const lowerCase = Object.entries(answer.headers).map(([name, value]) => [
        name.toLowerCase(),
        value.trim(),
      ]);
      expect(incoming.headers).toMatchObject(Object.fromEntries(lowerCase));
      expect(await text(incoming)).toBe(answer.body);
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  it.each(
    ANSWERS.flatMap(([name, answer]) => [
      [name, "a connection that is kept", answer, KEEP_ALIVE_MS] as const,
      [name, "one that is closed", answer, null] as const,
    ]),
  )("of %s to %s is what Node.js's own server writes", async (_name, _connection, answer, keepAliveMs) => {
    const port = await listening(
      createServer(HTTP_LIMITS, (_request, response) => {
        const length = Buffer.byteLength(answer.body);
        response.writeHead(answer.status, { ...answer.headers, "content-length": length });
        response.end(answer.body);
      }),
    );
    const client = await RawClient.open(port);
    onTestFinished(() => void client.socket.destroy());
    const { text: wire, encoding } = wireOf(answer, keepAliveMs);
    const bytes = Buffer.from(wire, encoding).toString("latin1");
    const connection = keepAliveMs === null ? "Connection: close\r\n" : "";
    await client.write(`POST / HTTP/1.1\r\nHost: a\r\n${connection}Content-Length: 0\r\n\r\n`);
    while (client.text.length < bytes.length) await once(client.socket, "data");
    const withoutDate = (text: string) => text.replace(/^Date: .* GMT$/m, "Date: now");
    expect(withoutDate(client.text)).toBe(withoutDate(bytes));
    expect(bytes).toMatch(/^Date: \w{3}, \d\d .* GMT\r$/m);
  });

  it("has the date of its second", () => {
    vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-01-02T03:04:05.999Z") });
    expect(wireOf(answerOf(), null).text).toContain("\r\nDate: Fri, 02 Jan 2026 03:04:05 GMT\r\n");
    vi.setSystemTime(new Date("2026-01-02T03:04:06.000Z"));
    expect(wireOf(answerOf(), null).text).toContain("\r\nDate: Fri, 02 Jan 2026 03:04:06 GMT\r\n");
    vi.setSystemTime(new Date("2026-01-02T03:04:05.000Z"));
    expect(wireOf(answerOf(), null).text).toContain("\r\nDate: Fri, 02 Jan 2026 03:04:05 GMT\r\n");
  });

  it.each(["a\r\nx-b: c", "a\n", "\x00", "\x7f", "é", "€"])(
    "with the header %j cannot be written",
    (value) => {
      expect(() => wireOf(answerOf({ headers: { "x-a": value } }), null)).toThrow(TypeError);
    },
  );
});
