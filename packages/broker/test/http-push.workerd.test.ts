import { createHash } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type BrokerHarness, folderOfTest, startBroker } from "./harness.ts";
import { type HttpEndpoint, startDeafEndpoint, startEndpoint } from "./http-endpoint.ts";
import { endpoint as endpointConsumer, pullConsumer } from "./messages.ts";

/*
 * HTTP push in workerd to a real server (spec sqsd 10, "generic mode"): what the platform's `fetch` does, and what has
 * to outlive the process. The rules themselves are tested on a virtual clock.
 */

let persistDir: string;
let endpoint: HttpEndpoint;
let broker: BrokerHarness;

beforeEach(async () => {
  persistDir = folderOfTest();
  endpoint = await startEndpoint();
});

afterEach(async () => {
  await broker.stop();
  await endpoint.close();
});

type Settings = Parameters<typeof endpointConsumer>[0];

/** A queue that posts to a path of the endpoint. */
const pushing = (settings: Settings = {}, at = "/tasks") => ({
  consumer: endpointConsumer({ url: `http://127.0.0.1:${endpoint.port}${at}`, ...settings }),
});

async function start(
  queues: Parameters<typeof startBroker>[0]["queues"],
  options: Partial<Parameters<typeof startBroker>[0]> = {},
): Promise<void> {
  broker = await startBroker({ queues, persistDir, ...options });
}

async function pass(queue: string, ms: number): Promise<void> {
  await (await broker.queue(queue)).advanceClock(queue, ms);
}

const bodies = () => endpoint.posts.map(({ body }) => body);
const attempts = () => endpoint.posts.map(({ headers }) => headers["sluice-attempt"]);

describe("HTTP push to a server", () => {
  it("posts the body as it is, signed, with headers of its own, and is done with any 2xx", async () => {
    const key = `whsec_${btoa("a key of sixteen or more")}`;
    await start(
      { orders: pushing({ signingSecret: "ORDERS_KEY", headers: { Authorization: "$ORDERS_TOKEN" } }) },
      { bindings: { ORDERS_KEY: key, ORDERS_TOKEN: "Bearer 123" } },
    );
    endpoint.answer = () => ({ status: 204 });
    await broker.send("orders", ['{"total":5,"currency":"€"}'], { contentType: "json" });
    await endpoint.until(() => endpoint.posts.length === 1);
    const [post] = endpoint.posts;
    expect(post).toMatchObject({
      path: "/tasks",
      body: '{"total":5,"currency":"€"}',
      headers: {
        "content-type": "application/json",
        // Servers that cannot read chunked bodies exist.
        "content-length": "28",
        authorization: "Bearer 123",
        "user-agent": "sluice",
        "sluice-queue": "orders",
        "sluice-attempt": "1",
      },
    });
    const signature = { ...post?.headers } as Record<string, string>;
    expect(new Webhook(key).verify(post?.body ?? "", signature)).toEqual({ total: 5, currency: "€" });
    await broker.until(() => broker.lines.some((line) => line.includes("QUEUE orders 1/1")));
    const queue = await broker.queue("orders");
    expect(await queue.describe("orders")).toMatchObject({ ready: 0, delayed: 0, leased: 0 });
  });

  it("retries by policy and by Retry-After, follows no redirect, and dead-letters what is out of retries", async () => {
    const retryPolicy = { kind: "exponential", base: 2, maxSeconds: 3_600, jitter: "none" } as const;
    await start({
      orders: pushing({ maxRetries: 2, retryPolicy, deadLetterQueue: "dead" }),
      dead: { consumer: pullConsumer() },
    });
    const answers = [
      { status: 302, headers: { location: "/elsewhere" } },
      { status: 429, headers: { "retry-after": "3000" } },
      { status: 500 },
    ];
    endpoint.answer = () => answers.shift() ?? { status: 200 };
    await broker.send("orders", ["a"]);
    await broker.until(() =>
      broker.lines.some((line) => line.includes("in 2 s (attempt 1 of 3): it answered 302")),
    );
    await pass("orders", 2_000);
    await broker.until(() =>
      broker.lines.some((line) => line.includes("in 3000 s (attempt 2 of 3): it answered 429")),
    );
    await pass("orders", 2_900_000);
    expect(endpoint.posts).toHaveLength(2);
    await pass("orders", 100_000);
    const dead = await broker.queue("dead");
    await expect
      .poll(() => dead.pull("dead", {}))
      .toMatchObject({ batch: { leaseIds: [expect.anything()] } });
    expect(attempts()).toEqual(["1", "2", "3"]);
    expect(endpoint.posts.map((post) => post.path)).toEqual(["/tasks", "/tasks", "/tasks"]);
    expect(endpoint.others).toEqual([]);
  });

  it("answers a 401 that asks for Digest authentication", async () => {
    const credentials = { username: "ann", password: "secret" };
    await start({ orders: pushing({ format: "sns", credentials, contentType: "text/plain" }) });
    const md5 = (text: string) => createHash("md5").update(text).digest("hex");
    const answers: (string | undefined)[] = [];
    endpoint.answer = ({ headers: { authorization } }) => {
      answers.push(authorization);
      const read = (name: string) => new RegExp(`${name}="?([^",]+)`).exec(authorization ?? "")?.[1] ?? "";
      const key = md5("ann:shop:secret");
      const expected = md5(`${key}:abc:00000001:${read("cnonce")}:auth:${md5("POST:/tasks")}`);
      if (read("response") === expected) return { status: 200 };
      return { status: 401, headers: { "www-authenticate": 'Digest realm="shop", nonce="abc", qop="auth"' } };
    };
    await broker.send("orders", ["a"]);
    await broker.until(() => broker.lines.some((line) => line.includes("QUEUE orders 1/1")));
    expect(answers).toEqual([undefined, expect.stringMatching(/^Digest username="ann", realm="shop"/)]);
  });

  it("takes a connection that is cut off, and an answer that does not come, for failures", async () => {
    await start({ orders: pushing({ responseTimeoutSeconds: 1, connectTimeoutSeconds: 1 }) });
    endpoint.answer = () => {
      if (endpoint.posts.length === 1) return (response) => response.socket?.resetAndDestroy();
      return endpoint.posts.length === 2 ? () => {} : { status: 200 };
    };
    await broker.send("orders", ["a"]);
    await endpoint.until(() => endpoint.posts.length === 3);
    expect(attempts()).toEqual(["1", "2", "3"]);
    const lines = broker.lines.join("\n");
    expect(lines).toContain("(attempt 1 of 4): it closed the connection without an answer");
    expect(lines).toContain("(attempt 2 of 4): it did not answer within 1 s");
  });

  it("has as many requests open as it may, and no more", async () => {
    await start({ orders: pushing({ maxConcurrency: 100 }) });
    const full = endpoint.until(() => endpoint.posts.length === 100);
    endpoint.answer = async () => {
      await full;
      return { status: 200 };
    };
    await broker.send(
      "orders",
      Array.from({ length: 250 }, (_, i) => `message ${i}`),
    );
    await endpoint.until(() => endpoint.posts.length === 250);
    expect(endpoint.mostOpen).toBe(100);
    expect(new Set(bodies()).size).toBe(250);
  });

  it("keeps the messages of a server that is down, uncounted, while another queue goes on", async () => {
    const other = await startEndpoint();
    await start({ orders: pushing(), others: pushing({ url: `http://127.0.0.1:${other.port}/` }) });
    await endpoint.close();
    await broker.send("orders", ["a", "b"]);
    await broker.until(() => broker.lines.some((line) => line.includes("is not running, its messages wait")));
    await broker.send("others", ["c"]);
    await other.until(() => other.posts.length === 1);
    await other.close();
    await endpoint.open();
    await endpoint.until(() => endpoint.posts.length === 2);
    expect(bodies()).toEqual(["a", "b"]);
    expect(attempts()).toEqual(["1", "1"]);
    expect(broker.lines.join("\n")).toContain(
      `its consumer "http://127.0.0.1:${endpoint.port}/tasks" is running again`,
    );
  });

  it("takes a server to which no connection is made in time for absent", { tags: "slow" }, async () => {
    const deaf = await startDeafEndpoint();
    await start({ orders: pushing({ url: `http://127.0.0.1:${deaf.port}/`, connectTimeoutSeconds: 1 }) });
    await broker.send("orders", ["a"]);
    await broker.until(() => broker.lines.some((line) => line.includes("is not running, its messages wait")));
    await deaf.close();
    expect(await (await broker.queue("orders")).describe("orders")).toMatchObject({ ready: 1, leased: 0 });
  });

  it("calls no address of this machine where it is deployed, unless it is listed", async () => {
    const listed = `127.0.0.1:${endpoint.port}`;
    await start({ orders: pushing() }, { sluiceEnv: null });
    await broker.send("orders", ["a"]);
    await broker.until(() => broker.lines.some((line) => line.includes("cannot be called: ")));
    expect(broker.lines.join("\n")).toContain('"127.0.0.1" is not public');
    expect(await (await broker.queue("orders")).describe("orders")).toMatchObject({ ready: 1, leased: 0 });
    expect(endpoint.posts).toEqual([]);
    await broker.stop();
    await start({ orders: pushing() }, { sluiceEnv: null, bindings: { SLUICE_PUSH_HOSTS: listed } });
    await broker.queue("orders").then((queue) => queue.describe("orders"));
    await endpoint.until(() => endpoint.posts.length === 1);
    expect(attempts()).toEqual(["1"]);
  });
});

describe("kill -9", () => {
  const restart = async (queues: Parameters<typeof startBroker>[0]["queues"]) => {
    await broker.kill();
    await broker.stop();
    await start(queues);
  };

  it("between a failure and its retry keeps the number of the attempt and the moment", async () => {
    const queues = { orders: pushing({ retryDelaySeconds: 3_600 }) };
    await start(queues);
    endpoint.answer = () => ({ status: 500 });
    await broker.send("orders", ["a"]);
    await broker.until(() => broker.lines.some((line) => line.includes("in 3600 s (attempt 1 of 4)")));
    const queue = await broker.queue("orders");
    expect(await queue.describe("orders")).toMatchObject({ ready: 0, delayed: 1, leased: 0 });
    await restart(queues);
    await pass("orders", 3_500_000);
    expect(await (await broker.queue("orders")).describe("orders")).toMatchObject({ delayed: 1 });
    expect(endpoint.posts).toHaveLength(1);
    await pass("orders", 100_000);
    await endpoint.until(() => endpoint.posts.length === 2);
    expect(attempts()).toEqual(["1", "2"]);
  });

  it("while a request is open makes it again, as another attempt", async () => {
    const queues = { orders: pushing() };
    await start(queues);
    endpoint.answer = () => (endpoint.posts.length === 1 ? () => {} : { status: 200 });
    await broker.send("orders", ["a"]);
    await endpoint.until(() => endpoint.posts.length === 1);
    await restart(queues);
    await (await broker.queue("orders")).describe("orders");
    await endpoint.until(() => endpoint.posts.length === 2);
    expect(bodies()).toEqual(["a", "a"]);
    expect(attempts()).toEqual(["1", "2"]);
  });
});
