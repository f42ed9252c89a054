import { HANDLER_WALL_CLOCK_MS_MAX } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { bodiesOf, deadBodies, decoder, heldAnswers, timesOf, worldWith } from "../../test/endpoint-world.ts";
import { WORLD_START_MS } from "../../test/world.ts";
import { answered } from "../../test/world-endpoint.ts";
import { BACKOFF_FIRST_MS } from "../platform/backoff.ts";
import { HEARTBEAT_MS } from "../turn/heartbeat.ts";

/* Delivery to an HTTP endpoint on the virtual clock (spec sqsd 10, "generic mode"). */

describe("delivery to an HTTP endpoint", () => {
  it("is one POST for each message, with the body as it was sent and the rest in headers", async () => {
    const world = worldWith();
    await world.sendAndPass("orders", ['{"total":5}'], 0, { contentType: "json" });
    expect(world.posts).toHaveLength(1);
    expect(world.posts[0]).toMatchObject({
      url: "https://shop.example/tasks",
      connectTimeoutMs: 5_000,
      responseTimeoutMs: 60_000,
      headers: {
        "content-type": "application/json",
        "sluice-queue": "orders",
        "sluice-attempt": "1",
        "sluice-message-id": expect.stringMatching(/^[0-9a-f]{32}$/),
        "sluice-sent-at": new Date(WORLD_START_MS).toISOString(),
        "sluice-deadline": new Date(WORLD_START_MS + 60_000).toISOString(),
      },
    });
    expect(bodiesOf(world)).toEqual(['{"total":5}']);
    expect(world.core("orders").describe()).toMatchObject({ ready: 0, delayed: 0, leased: 0 });
  });

  it("makes max_concurrency requests at a time from the first moment on, and no more", async () => {
    const world = worldWith({ maxConcurrency: 3 });
    const answers = heldAnswers(world);
    await world.sendAndPass("orders", ["a", "b", "c", "d", "e"]);
    expect(bodiesOf(world)).toEqual(["a", "b", "c"]);
    answers[1]?.resolve(answered(200));
    await world.pass(0);
    expect(bodiesOf(world)).toEqual(["a", "b", "c", "d"]);
  });

  it.each([200, 201, 204, 299])("is done when it answers %i", async (status) => {
    const world = worldWith();
    world.answer = () => answered(status);
    await world.sendAndPass("orders", ["a"], 3_600_000);
    expect(world.posts).toHaveLength(1);
  });

  it.each([100, 301, 302, 400, 404, 429, 500, 503])("fails when it answers %i", async (status) => {
    const world = worldWith({ maxRetries: 1, retryDelaySeconds: 7 });
    world.answer = () => answered(status);
    await world.sendAndPass("orders", ["a"], 60_000);
    expect(timesOf(world)).toEqual([0, 7_000]);
    expect(world.posts.map(({ headers }) => headers["sluice-attempt"])).toEqual(["1", "2"]);
    expect(world.lines.join("\n")).toContain(`it answered ${status}`);
  });

  it("moves a message to the dead-letter queue at the moment its last attempt has failed", async () => {
    const world = worldWith({ maxRetries: 2, retryDelaySeconds: 10, deadLetterQueue: "dead" });
    world.answer = () => answered(500);
    await world.sendAndPass("orders", ["a"], 19_999);
    expect(deadBodies(world)).toEqual([]);
    await world.pass(1);
    expect(timesOf(world)).toEqual([0, 10_000, 20_000]);
    expect(deadBodies(world)).toEqual(["a"]);
  });

  it("retries by the queue's policy, counted from the end of the attempt", async () => {
    const retryPolicy = { kind: "exponential", base: 2, maxSeconds: 3_600, jitter: "none" } as const;
    const world = worldWith({ retryPolicy, maxRetries: 3 });
    const answers = heldAnswers(world);
    await world.send("orders", ["a"]);
    for (let attempt = 1; attempt <= 4; attempt++) {
      await world.pass(1_000);
      answers.at(-1)?.resolve(answered(500));
      await world.pass(2 ** attempt * 1_000);
    }
    expect(timesOf(world)).toEqual([0, 3_000, 8_000, 17_000]);
  });

  it("waits for as long as Retry-After says, whatever the policy", async () => {
    const retryPolicy = { kind: "fixed", delaySeconds: 1, jitter: "none" } as const;
    const world = worldWith({ retryPolicy, maxRetries: 5 });
    const date = new Date(WORLD_START_MS + 30_000 + 45_000).toUTCString();
    const answers = [answered(429, "30"), answered(503, date), answered(500, "soon")];
    world.answer = () => answers.shift() ?? answered(200);
    await world.sendAndPass("orders", ["a"], 600_000);
    expect(timesOf(world)).toEqual([0, 30_000, 75_000, 76_000]);
  });

  it.each(["closed", "timedOut"] as const)("counts a request that is %s", async (kind) => {
    const world = worldWith({ maxRetries: 1 });
    world.answer = () => ({ kind, reason: "no answer came" });
    await world.sendAndPass("orders", ["a"]);
    expect(world.posts.map(({ headers }) => headers["sluice-attempt"])).toEqual(["1", "2"]);
    expect(world.lines.at(-1)).toContain("after 2 failed attempt(s): no answer came");
  });

  it("counts a request that is still under way when no delivery may take longer", async () => {
    const world = worldWith({ maxRetries: 1, responseTimeoutSeconds: 840 });
    heldAnswers(world);
    await world.send("orders", ["a"]);
    // As after a broker that stood still: its own timeout comes later than the alarm.
    await world.pass(HANDLER_WALL_CLOCK_MS_MAX);
    expect(world.posts.map(({ headers }) => headers["sluice-attempt"])).toEqual(["1", "2"]);
    expect(world.pings).toBe(0);
    await world.pass(HANDLER_WALL_CLOCK_MS_MAX);
    expect(world.lines.at(-1)).toContain(
      "after 2 failed attempt(s): its handler did not finish within 900 s",
    );
  });

  it("keeps what waits for a retry over a crash, with its attempt and its moment", async () => {
    const world = worldWith({ retryDelaySeconds: 100 });
    world.answer = () => answered(500);
    await world.sendAndPass("orders", ["a"], 50_000);
    world.restart("orders");
    await world.pass(49_999);
    expect(timesOf(world)).toEqual([0]);
    await world.pass(1);
    expect(timesOf(world)).toEqual([0, 100_000]);
    expect(world.posts[1]?.headers["sluice-attempt"]).toBe("2");
  });

  it("makes a request again whose answer a crash has taken away, as another attempt", async () => {
    const world = worldWith();
    heldAnswers(world);
    await world.sendAndPass("orders", ["a"], 1_000);
    world.crash("orders");
    world.answer = () => answered(200);
    await world.pass(HEARTBEAT_MS);
    expect(bodiesOf(world)).toEqual(["a", "a"]);
    expect(world.posts[1]?.headers["sluice-attempt"]).toBe("2");
  });

  it("keeps the order of a group, also when its first message fails; other groups go on", async () => {
    const world = worldWith({ retryDelaySeconds: 5 }, { fifo: { deduplicationScope: "queue" } });
    const groups = ["a", "a", "b"];
    world.answer = ({ body }) =>
      decoder.decode(body) === "a1" && world.posts.length < 3 ? answered(500) : answered(200);
    await world.sendAndPass("orders", ["a1", "a2", "b1"], 0, { groups });
    expect(bodiesOf(world)).toEqual(["a1", "b1"]);
    await world.pass(5_000);
    expect(bodiesOf(world)).toEqual(["a1", "b1", "a1", "a2"]);
    expect(world.posts[0]?.headers["sluice-group-id"]).toBe("a");
  });

  it("is not made while delivery is paused", async () => {
    const world = worldWith({}, { deliveryPaused: true });
    await world.sendAndPass("orders", ["a"], 60_000);
    expect(world.posts).toEqual([]);
  });
});

describe("an HTTP endpoint that cannot be reached", () => {
  it("gets its messages when it is back, uncounted and in order", async () => {
    const world = worldWith({ maxRetries: 0, maxConcurrency: 1 });
    world.running = false;
    world.answer = () =>
      world.running ? answered(200) : { kind: "unreachable", reason: "it cannot be reached" };
    await world.sendAndPass("orders", ["a", "b"], 10 * 60_000);
    // Asked whether it is there, not sent the message again and again.
    expect(world.posts).toHaveLength(1);
    expect(world.pings).toBeGreaterThan(10);
    expect(world.core("orders").describe()).toMatchObject({ ready: 2, leased: 0 });
    world.running = true;
    await world.pass(60_000);
    expect(bodiesOf(world)).toEqual(["a", "a", "b"]);
    expect(world.posts.map(({ headers }) => headers["sluice-attempt"])).toEqual(["1", "1", "1"]);
  });

  it("gets one message when it is back, and the others when it has answered that", async () => {
    const world = worldWith({ maxRetries: 0 });
    world.running = false;
    world.answer = () => ({ kind: "unreachable", reason: "it cannot be reached" });
    await world.sendAndPass("orders", ["a", "b", "c"]);
    world.posts.length = 0;
    const answers = heldAnswers(world);
    world.running = true;
    await world.pass(60_000);
    expect(bodiesOf(world)).toEqual(["a"]);
    answers[0]?.resolve(answered(500));
    await world.pass(0);
    expect(bodiesOf(world)).toEqual(["a", "b", "c"]);
    expect(world.posts.map(({ headers }) => headers["sluice-attempt"])).toEqual(["1", "1", "1"]);
  });

  it("is brought down by one message only as often as that may be retried, and by no other's attempts", async () => {
    const world = worldWith({ maxRetries: 2, deadLetterQueue: "dead" });
    // It restarts at once, so every probe finds it.
    world.answer = ({ body }) => {
      const isPoison = decoder.decode(body) === "poison";
      return isPoison ? { kind: "unreachable", reason: "it cannot be reached" } : answered(200);
    };
    await world.sendAndPass("orders", ["poison", "a", "b"], 60_000);
    expect(deadBodies(world)).toEqual(["poison"]);
    const attemptsOf = (body: string) =>
      world.posts
        .filter((post) => decoder.decode(post.body) === body)
        .map(({ headers }) => headers["sluice-attempt"]);
    expect(attemptsOf("poison")).toEqual(["1", "1", "2", "3"]);
    expect(attemptsOf("a")).toEqual(["1"]);
    expect(attemptsOf("b")).toEqual(["1"]);
    expect(world.lines.join("\n")).toContain(
      "it had just said that it is back, and was gone before it answered",
    );
  });

  it("is asked by its readiness path if it has one", async () => {
    const world = worldWith({ readinessPath: "/ready" });
    const asked: unknown[] = [];
    world.ready = async (...question) => {
      asked.push(question);
      return true;
    };
    world.answer = () => (world.posts.length === 1 ? { kind: "unreachable", reason: "gone" } : answered(200));
    await world.sendAndPass("orders", ["a"], BACKOFF_FIRST_MS);
    expect(asked).toEqual([["https://shop.example/tasks", "/ready", 5_000]]);
    expect(bodiesOf(world)).toEqual(["a", "a"]);
  });
});

describe("what a request is made with", () => {
  it("are further headers, with environment variables in their places", async () => {
    const world = worldWith({
      headers: { Authorization: "$SHOP_TOKEN", "X-Shop": "main", "X-Town": "Zürich", "X-Price": "$PRICE" },
    });
    world.variables.SHOP_TOKEN = "Bearer 123";
    world.variables.PRICE = "5 €";
    await world.sendAndPass("orders", ["a"]);
    expect(world.posts[0]?.headers).toMatchObject({
      authorization: "Bearer 123",
      "x-shop": "main",
      // The bytes of their UTF-8.
      "x-town": "Z\u00c3\u00bcrich",
      "x-price": "5 \u00e2\u0082\u00ac",
    });
  });

  it("are no headers of the connection and of the product, though stored settings have them", async () => {
    const world = worldWith({
      headers: { Host: "evil.example", "Sluice-Queue": "$UNSET", "webhook-id": "1", "X-Shop": "main" },
    });
    await world.sendAndPass("orders", ["a", "b"]);
    const [{ headers } = { headers: {} }] = world.posts;
    expect(headers).toMatchObject({ "sluice-queue": "orders", "x-shop": "main" });
    expect(Object.keys(headers)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(host|webhook)/i)]),
    );
    const left = world.lines.filter((line) => line.includes("left out"));
    expect(left).toHaveLength(1);
    expect(left[0]).toContain("Host, Sluice-Queue, webhook-id");
  });

  it("is the content type of the message, or the one that is set", async () => {
    const world = worldWith();
    for (const contentType of ["text", "bytes", "json"] as const) {
      await world.send("orders", ["1"], { contentType });
    }
    await world.pass(0);
    expect(world.posts.map(({ headers }) => headers["content-type"])).toEqual([
      "text/plain; charset=utf-8",
      "application/octet-stream",
      "application/json",
    ]);
    const set = worldWith({ contentType: "application/xml" });
    await set.send("orders", ["1"]);
    await set.pass(0);
    expect(set.posts[0]?.headers["content-type"]).toBe("application/xml");
  });

  it("keeps the messages until a variable is set, and says which", async () => {
    const world = worldWith({ signingSecret: "SHOP_KEY" });
    await world.sendAndPass("orders", ["a"], 60_000);
    expect(world.posts).toEqual([]);
    const reason = "the environment variable SHOP_KEY is not set";
    const line = `error: Queue "orders": its consumer "https://shop.example/tasks" cannot be called: ${reason}; its messages wait`;
    expect(world.lines).toEqual([line]);
    expect(world.core("orders").describe()).toMatchObject({ ready: 1 });
    expect(world.core("orders").messages.why().text).toMatch(
      /^"https:\/\/shop.example\/tasks" is not called: the environment variable SHOP_KEY is not set\. Sluice looks again at \d/,
    );
    world.variables.SHOP_KEY = "key";
    world.running = false;
    world.answer = () => (world.running ? answered(200) : { kind: "unreachable", reason: "gone" });
    await world.pass(60_000);
    expect(world.core("orders").messages.why().text).toContain("does not answer, and is asked again at");
    expect(world.lines).toEqual([
      line,
      'warn: Queue "orders": its consumer "https://shop.example/tasks" is not running, its messages wait',
    ]);
    world.running = true;
    await world.pass(60_000);
    expect(world.lines.at(-1)).toBe(
      'info: Queue "orders": its consumer "https://shop.example/tasks" is running again',
    );
  });

  it.each(["", "whsec_", "whsec_***"])(
    "waits while the secret that signs it is %j, which is no key",
    async (secret) => {
      const world = worldWith({ signingSecret: "SHOP_KEY" });
      world.variables.SHOP_KEY = secret;
      await world.sendAndPass("orders", ["a"], 60_000);
      expect(world.posts).toEqual([]);
      expect(world.lines).toEqual([
        'error: Queue "orders": its consumer "https://shop.example/tasks" cannot be called: the environment variable SHOP_KEY holds no key to sign with; its messages wait',
      ]);
      expect(world.core("orders").describe()).toMatchObject({ ready: 1 });
      world.variables.SHOP_KEY = "key";
      await world.pass(60_000);
      expect(world.lines.at(-1)).toBe(
        'info: Queue "orders": its consumer "https://shop.example/tasks" is running again',
      );
    },
  );

  it("has the value of a variable without blanks at its ends, and waits while that is none for a header", async () => {
    const world = worldWith({ headers: { Authorization: "$SHOP_TOKEN" } });
    world.variables.SHOP_TOKEN = "one\ntwo";
    await world.sendAndPass("orders", ["a"], 60_000);
    expect(world.posts).toEqual([]);
    expect(world.lines).toEqual([
      'error: Queue "orders": its consumer "https://shop.example/tasks" cannot be called: the value of its header Authorization has a character that no header can have; its messages wait',
    ]);
    world.variables.SHOP_TOKEN = "Bearer 123\n";
    await world.pass(60_000);
    expect(world.posts.map(({ headers }) => headers.authorization)).toEqual(["Bearer 123"]);
  });

  it("is not made to an address that may not be called, and the query is in no log line", async () => {
    const world = worldWith({ url: "http://127.0.0.1:8080/tasks?key=secret" });
    await world.sendAndPass("orders", ["a"], 60_000);
    expect(world.posts).toEqual([]);
    expect(world.lines.join("\n")).toContain('"http://127.0.0.1:8080/tasks" cannot be called');
    expect(world.lines.join("\n")).not.toContain("secret");
    world.targets = { privateAllowed: true, allowedHosts: [] };
    await world.pass(60_000);
    expect(bodiesOf(world)).toEqual(["a"]);
  });
});
