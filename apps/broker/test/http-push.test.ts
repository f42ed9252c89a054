import { createHash } from "node:crypto";
import dns from "node:dns";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type HttpEndpoint, startEndpoint } from "@sluice/broker/testing/http-endpoint";
import { definition, endpoint as endpointConsumer } from "@sluice/broker/testing/messages";
import { deliveriesIn } from "@sluice/broker-worker/deliveries";
import { type OpenBroker, openBroker } from "@sluice/broker-worker/open-broker";
import type { HttpPushSettings } from "@sluice/protocol";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

/** HTTP push from the broker on plain Node.js to a real server, which must behave as on workerd. */

const API = "http://localhost/__sluice";

/** Lines that the broker has printed, with their level. */
const lines: string[] = [];
let folder: string;
let endpoint: HttpEndpoint;
let broker: OpenBroker;

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "sluice-http-push-"));
  endpoint = await startEndpoint();
  lines.length = 0;
  for (const level of ["log", "warn", "error"] as const) {
    vi.spyOn(console, level).mockImplementation((text) => void lines.push(`${level}: ${text}`));
  }
});

afterEach(async () => {
  broker.close();
  await endpoint.close();
  rmSync(folder, { recursive: true });
  vi.restoreAllMocks();
});

function start(settings: Partial<HttpPushSettings> = {}, vars: Record<string, string> = {}): void {
  const url = `http://127.0.0.1:${endpoint.port}/tasks`;
  const orders = definition({ consumer: endpointConsumer({ url, ...settings }) });
  const options = { SLUICE_ENV: "development", ...vars };
  broker = openBroker({ folder, worker: "broker", topology: { queues: { orders } }, vars: options });
}

async function call(at: string, method: string, body?: object): Promise<Record<string, unknown>> {
  const headers = { authorization: "Bearer any" };
  const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
  const response = await broker.gateway.request(`${API}${at}`, init);
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

async function send(...bodies: string[]): Promise<void> {
  const { result } = await call("/client/v4/accounts/any/queues?name=orders", "GET");
  const [{ queue_id } = { queue_id: "" }] = result as { queue_id: string }[];
  const messages = bodies.map((body) => ({ body, content_type: "text" }));
  await call(`/client/v4/accounts/any/queues/${queue_id}/messages/batch`, "POST", { messages });
}

const bodies = () => endpoint.posts.map(({ body }) => body);
const attempts = () => endpoint.posts.map(({ headers }) => headers["sluice-attempt"]);
const waiting = async () => (await call("/api/queues/orders", "GET")).messages;
const NONE = { ready: 0, delayed: 0, leased: 0 };

describe("HTTP push from Node.js", () => {
  it("posts messages up to the limit at a time, and goes on after failures, lost connections and late answers", async () => {
    start({ maxConcurrency: 20, responseTimeoutSeconds: 1 });
    const full = endpoint.until(() => endpoint.posts.length === 20);
    endpoint.answer = async ({ body, headers }) => {
      await full;
      if (headers["sluice-attempt"] !== "1") return { status: 204 };
      if (body === "fails") return { status: 500 };
      if (body === "hangs up") return (response) => response.socket?.resetAndDestroy();
      return body === "is late" ? () => {} : { status: 200 };
    };
    const plain = Array.from({ length: 97 }, (_, i) => `message ${i}`);
    await send("fails", "hangs up", "is late", ...plain);
    await endpoint.until(() => endpoint.posts.length >= 103);
    await vi.waitFor(async () => expect(await waiting()).toMatchObject(NONE), { timeout: 10_000 });
    expect(endpoint.mostOpen).toBe(20);
    expect(new Set(bodies()).size).toBe(100);
    expect(bodies().filter((body) => !body.startsWith("message"))).toHaveLength(6);
  });

  it("keeps messages without counting attempts while a server is down", async () => {
    start();
    await endpoint.close();
    await send("a", "b");
    const isAway = expect.stringContaining("is not running, its messages wait");
    await vi.waitFor(() => expect(lines).toContainEqual(isAway), { timeout: 10_000 });
    expect(await waiting()).toMatchObject({ ready: 2, leased: 0 });
    await endpoint.open();
    await endpoint.until(() => endpoint.posts.length === 2);
    expect(bodies()).toEqual(["a", "b"]);
    expect(attempts()).toEqual(["1", "1"]);
  });

  it("signs with the machine's time, also where the clock of the queues is moved: receivers refuse another", async () => {
    const secret = `whsec_${btoa("0123456789abcdef01234567")}`;
    start({ signingSecret: "ORDERS_KEY" }, { ORDERS_KEY: secret });
    await call("/api/clock", "POST", { advanceMs: 3_600_000 });
    await send("a");
    await endpoint.until(() => endpoint.posts.length === 1);
    const signedMs = 1_000 * Number(endpoint.posts[0]?.headers["webhook-timestamp"]);
    // Standard Webhooks: five minutes at most.
    expect(Math.abs(Date.now() - signedMs)).toBeLessThan(300_000);
  });

  it("authenticates by Digest after a 401 that asks for it", async () => {
    start({ format: "sns", credentials: { username: "ann", password: "secret" }, contentType: "text/plain" });
    const md5 = (text: string) => createHash("md5").update(text).digest("hex");
    endpoint.answer = ({ headers: { authorization } }) => {
      const read = (name: string) => new RegExp(`${name}="?([^",]+)`).exec(authorization ?? "")?.[1] ?? "";
      const key = md5("ann:shop:secret");
      const expected = md5(`${key}:abc:00000001:${read("cnonce")}:auth:${md5("POST:/tasks")}`);
      if (read("response") === expected) return { status: 200 };
      return { status: 401, headers: { "www-authenticate": 'Digest realm="shop", nonce="abc", qop="auth"' } };
    };
    await send("a");
    await endpoint.until(() => endpoint.posts.length === 2);
    await vi.waitFor(async () => expect(await waiting()).toMatchObject(NONE), { timeout: 10_000 });
    expect(endpoint.posts).toHaveLength(2);
  });

  it("repeats a request that was open when the broker stopped, as another attempt", async () => {
    start();
    const hungUp = Promise.withResolvers<void>();
    endpoint.answer = () =>
      endpoint.posts.length === 1
        ? (response) => void response.once("close", hungUp.resolve)
        : { status: 200 };
    await send("a");
    await endpoint.until(() => endpoint.posts.length === 1);
    const printed = lines.length;
    broker.close();
    // Later lines of the stopped broker do not matter.
    await hungUp.promise;
    await new Promise((resolve) => setImmediate(resolve));
    expect(lines.slice(printed)).toEqual([]);
    start();
    expect(await waiting()).toMatchObject({ delayed: 0 });
    await endpoint.until(() => endpoint.posts.length === 2);
    expect(attempts()).toEqual(["1", "2"]);
  });

  it.each([
    ["the broker was stopped on purpose", "planned"],
    ["a Worker had ended its process", '{"kind":"blamed","worker":"a","slotMs":60000}'],
    ["one of several Workers had", '{"kind":"suspected","order":["a","b"],"slotMs":60000}'],
  ])("repeats it as the same attempt, at once, when %s", async (_name, lastEnd) => {
    start({ maxRetries: 0 });
    endpoint.answer = () => (endpoint.posts.length === 1 ? () => {} : { status: 200 });
    await send("a");
    await endpoint.until(() => endpoint.posts.length === 1);
    broker.close();
    start({ maxRetries: 0 }, { SLUICE_LAST_END: lastEnd });
    expect(await waiting()).toMatchObject({ delayed: 0 });
    await endpoint.until(() => endpoint.posts.length === 2);
    expect(attempts()).toEqual(["1", "1"]);
  });

  it("shows its deliveries in files while the broker runs, and after its end", async () => {
    const at = { folder, worker: "broker" };
    expect(deliveriesIn(at)).toEqual([]);
    start();
    endpoint.answer = () => () => {};
    const beforeMs = Date.now();
    await send("a");
    await endpoint.until(() => endpoint.posts.length === 1);
    const expected = { queue: "orders", worker: null, messages: 1, attempt: 1, sinceMs: expect.any(Number) };
    expect(deliveriesIn(at)).toEqual([expected]);
    expect(deliveriesIn(at)[0]?.sinceMs).toBeGreaterThanOrEqual(beforeMs);
    expect(deliveriesIn(at)[0]?.sinceMs).toBeLessThanOrEqual(Date.now());
    broker.close();
    // The broker reports a file that cannot be read.
    writeFileSync(path.join(folder, "broker-QueueBroker", `${"0".repeat(64)}.sqlite`), "no database");
    expect(deliveriesIn(at)).toEqual([expected]);
  });

  it.each(["production", "local"])(
    "reaches no address of the broker's own network by a name, with tokens and SLUICE_ENV=%s",
    async (env) => {
      const lookup = vi.spyOn(dns.promises, "lookup");
      lookup.mockImplementation((async () => [{ address: "127.0.0.1", family: 4 }]) as never);
      const url = `http://shop.example:${endpoint.port}/tasks`;
      const closed = { SLUICE_ENV: env, SLUICE_API_TOKENS: "any" };
      start({ url }, closed);
      await send("a");
      const said = () =>
        lines.filter((line) => line.includes('"shop.example" is at 127.0.0.1, which is not public'));
      await vi.waitFor(() => expect(said()).toHaveLength(1), { timeout: 10_000 });
      expect(await waiting()).toMatchObject({ ready: 1 });
      expect(endpoint.posts).toEqual([]);
      broker.close();
      start({ url }, { ...closed, SLUICE_PUSH_HOSTS: "shop.example" });
      await waiting();
      await endpoint.until(() => endpoint.posts.length === 1);
    },
  );
});
