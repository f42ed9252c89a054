import { PULL_MESSAGES_MAX, type PullConsumerSettings, VISIBILITY_TIMEOUT_MS_MAX } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { consumer, pullConsumer } from "../../test/messages.ts";
import { PullClient, type PulledMessage } from "../../test/pull-client.ts";
import { World } from "../../test/world.ts";

function pulled(settings: Partial<PullConsumerSettings> = {}): { world: World; client: PullClient } {
  const world = new World({
    orders: { consumer: pullConsumer(settings) },
    dead: { consumer: pullConsumer() },
  });
  return { world, client: new PullClient(world, "orders") };
}

const bodies = (messages: readonly PulledMessage[]) => messages.map(({ body }) => body);
const tokens = (messages: readonly PulledMessage[]) => messages.map(({ token }) => token);

describe("a pull (spec cloudflare-queues 5.2, 5.5)", () => {
  // conformance: visibility-timeout
  it("leases the first messages, which no other client gets before their visibility timeout", async () => {
    const { world, client } = pulled({ visibilityTimeoutMs: 1_000 });
    await world.send("orders", ["a", "b", "c"]);
    expect(await client.pull({ max: 2 })).toMatchObject([
      { body: "a", attempts: 1 },
      { body: "b", attempts: 1 },
    ]);
    expect(bodies(await client.pull())).toEqual(["c"]);
    await world.pass(999);
    expect(await client.pull()).toEqual([]);
    await world.pass(1);
    expect(await client.pull()).toMatchObject([
      { body: "a", attempts: 2 },
      { body: "b", attempts: 2 },
      { body: "c", attempts: 2 },
    ]);
  });

  // conformance: visibility-timeout
  it("gives what has expired again though the alarm has not rung yet", async () => {
    const { world, client } = pulled();
    await world.send("orders", ["a"]);
    await client.pull({ visibilityTimeoutMs: 1_000 });
    world.nowMs += 1_000;
    expect(await client.pull()).toMatchObject([{ body: "a", attempts: 2 }]);
  });

  // conformance: short-polling
  it("answers an empty queue at once, and one where everything is delayed", async () => {
    const { world, client } = pulled();
    expect(await client.pull()).toEqual([]);
    await world.send("orders", ["later"], { delaySeconds: 1 });
    expect(await client.pull()).toEqual([]);
    await world.pass(1_000);
    expect(bodies(await client.pull())).toEqual(["later"]);
  });

  // conformance: pull-over-http
  it("goes by the consumer's batch size and visibility timeout unless it names its own", async () => {
    const { world, client } = pulled({ maxBatchSize: 2, visibilityTimeoutMs: 500 });
    await world.send("orders", ["a", "b", "c", "d"]);
    expect(bodies(await client.pull())).toEqual(["a", "b"]);
    expect(bodies(await client.pull({ max: 1, visibilityTimeoutMs: 5_000 }))).toEqual(["c"]);
    await world.pass(500);
    expect(bodies(await client.pull({ max: 10 }))).toEqual(["d", "a", "b"]);
  });

  it("a pull with a visibility timeout of 0 leaves the messages visible, counts, and can be acknowledged", async () => {
    const { world, client } = pulled({ maxRetries: 5 });
    await world.send("orders", ["a"]);
    const [first] = await client.pull({ visibilityTimeoutMs: 0 });
    expect(await client.pull({ visibilityTimeoutMs: 0 })).toMatchObject([{ body: "a", attempts: 2 }]);
    expect(await client.settle([first?.token ?? ""])).toMatchObject({ ackCount: 1, warnings: [] });
    expect(await client.pull()).toEqual([]);
  });

  // conformance: lease-ids
  it("gives every delivery of a message a lease id of its own", async () => {
    const { world, client } = pulled();
    await world.send("orders", ["a", "b"]);
    const seen = new Set<string>();
    for (let i = 0; i < 3; i++) {
      for (const token of tokens(await client.pull({ visibilityTimeoutMs: 1 }))) seen.add(token);
      await world.pass(1);
    }
    expect(seen.size).toBe(6);
  });

  it("tells how much waits besides what it has leased", async () => {
    const { world } = pulled();
    await world.send("orders", ["a", "bb", "ccc"]);
    await world.send("orders", ["later"], { delaySeconds: 60 });
    expect(await world.core("orders").pull({ max: 2 })).toMatchObject({
      batch: { metrics: { backlogCount: 2, backlogBytes: 8 } },
    });
  });

  it("is refused for a queue that a Worker consumes, that has no consumer, and that is paused", async () => {
    const world = new World({
      pushed: { consumer: consumer() },
      nobodys: {},
      paused: { consumer: pullConsumer(), deliveryPaused: true },
    });
    await world.send("paused", ["a"]);
    await expect(new PullClient(world, "pushed").pull()).rejects.toThrow("notPullConsumer");
    await expect(new PullClient(world, "nobodys").pull()).rejects.toThrow("notPullConsumer");
    await expect(new PullClient(world, "paused").pull()).rejects.toThrow("deliveryPaused");
    expect(world.core("paused").describe()).toMatchObject({ ready: 1, leased: 0 });
  });

  it.each([
    [{ max: 0 }, false],
    [{ max: 1 }, true],
    [{ max: PULL_MESSAGES_MAX }, true],
    [{ max: PULL_MESSAGES_MAX + 1 }, false],
    [{ max: 1.5 }, false],
    [{ visibilityTimeoutMs: -1 }, false],
    [{ visibilityTimeoutMs: VISIBILITY_TIMEOUT_MS_MAX }, true],
    [{ visibilityTimeoutMs: VISIBILITY_TIMEOUT_MS_MAX + 1 }, false],
  ])("a pull of %j is in range: %s", async (request, isInRange) => {
    const { client } = pulled();
    if (isInRange) expect(await client.pull(request)).toEqual([]);
    else await expect(client.pull(request)).rejects.toThrow(RangeError);
  });

  it("rings no alarm for a consumer that is not there, and one for the end of its lease", async () => {
    const { world, client } = pulled({ maxRetries: 0 });
    await world.send("orders", ["a"]);
    expect(world.alarmIn("orders")).toBe(345_600_000);
    await client.pull({ visibilityTimeoutMs: 7_000 });
    expect(world.alarmIn("orders")).toBe(7_000);
    await world.pass(7_000);
    expect(world.core("orders").describe()).toMatchObject({ ready: 0, leased: 0 });
  });

  it("takes others for messages whose bytes are lost, and says so", async () => {
    const { world, client } = pulled();
    await world.send("orders", ["x".repeat(40_000)]);
    await world.send("orders", ["a"]);
    world.core("orders").cache.delete(world.core("orders").queue.segments.keys().next().value ?? 0);
    world.store("orders").readPayload = () => null;
    expect(bodies(await client.pull({ max: 1 }))).toEqual(["a"]);
    expect(world.core("orders").describe().damage).toMatchObject([{ kind: "messagesLost", messagesLost: 1 }]);
  });
});

describe("a lease of a pull", () => {
  // conformance: lease-ids
  it("survives a crash, and its lease id does", async () => {
    const { world, client } = pulled();
    await world.send("orders", ["a", "b"]);
    const [a, b] = tokens(await client.pull());
    world.crash("orders");
    await world.pass(29_999);
    expect(await client.pull()).toEqual([]);
    expect(await client.settle([a ?? ""])).toEqual({ ackCount: 1, retryCount: 0, warnings: [] });
    world.crash("orders");
    await world.pass(1);
    expect(await client.pull()).toMatchObject([{ body: "b", attempts: 2 }]);
    expect(await client.settle([b ?? ""])).toMatchObject({ ackCount: 1 });
  });

  // conformance: pull-dead-letter
  it("a lease that expires past max_retries moves its message to the dead-letter queue", async () => {
    const { world, client } = pulled({ maxRetries: 1, deadLetterQueue: "dead" });
    await world.send("orders", ["a"]);
    for (const attempts of [1, 2]) {
      expect(await client.pull({ visibilityTimeoutMs: 100 })).toMatchObject([{ attempts }]);
      await world.pass(100);
    }
    expect(await client.pull()).toEqual([]);
    expect(await new PullClient(world, "dead").pull()).toMatchObject([{ body: "a", attempts: 1 }]);
    expect(world.lines).toContainEqual(expect.stringMatching(/dead letter queue "dead" after 2 failed/));
  });
});
