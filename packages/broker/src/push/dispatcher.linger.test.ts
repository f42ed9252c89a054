import type { QueueDefinition } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { consumer, endpoint, pullConsumer } from "../../test/messages.ts";
import { type Handler, World } from "../../test/world.ts";
import { answered } from "../../test/world-endpoint.ts";
import { BACKOFF_FIRST_MS } from "../platform/backoff.ts";
import { LINGER_MS, LINGER_MS_MAX } from "../turn/group-commit.ts";
import { HEARTBEAT_MS } from "../turn/heartbeat.ts";

type Settings = Parameters<typeof consumer>[0];

/** Batches of two, at once; settlements may linger. */
function sharing(settings: Settings = {}, definition: Partial<QueueDefinition> = {}): World {
  const all = { maxBatchSize: 2, maxBatchTimeoutSeconds: 0, ...settings };
  const world = new World({
    orders: { consumer: consumer(all), ...definition },
    dead: { consumer: pullConsumer() },
  });
  world.sharesCommits = true;
  return world;
}

/** Commits that the queue made while `work` ran. */
async function commitsDuring(world: World, work: () => Promise<unknown>): Promise<number> {
  const before = world.store("orders").commits;
  await work();
  await world.quiet();
  return world.store("orders").commits - before;
}

const leased = (world: World) => world.core("orders").describe().leased;

describe("a delivery that acknowledged everything", () => {
  it("is settled with the next send, in one commit", async () => {
    const world = sharing();
    await world.send("orders", ["a", "b"]);
    await world.quiet();
    expect(leased(world)).toBe(2);
    const rows = world.store("orders").rowsWritten;
    expect(await commitsDuring(world, () => world.send("orders", ["c", "d"]))).toBe(1);
    expect(world.store("orders").rowsWritten - rows).toBe(1);
    expect(world.handled).toEqual([["orders", 2, 2]]);
  });

  it.each([
    [LINGER_MS - 1, 2],
    [LINGER_MS, 0],
    [LINGER_MS + 1, 0],
  ])("is settled by itself when nothing comes: after %i ms %i messages are leased", async (ms, left) => {
    const world = sharing();
    await world.sendAndPass("orders", ["a", "b"], ms);
    expect(leased(world)).toBe(left);
    expect([...world.store("orders").segments()]).toHaveLength(left / 2);
  });

  it("took as long as its handler did, not as long as its settlement waited", async () => {
    const world = sharing();
    await world.sendAndPass("orders", ["a", "b"], LINGER_MS_MAX);
    expect(world.tookMs).toEqual([0]);
    expect(world.core("orders").describe().consumer?.lastDelivery?.endedMs).toBe(world.nowMs - LINGER_MS_MAX);
  });

  it("comes again after a crash before the commit, within the heartbeat, and counts as an attempt", async () => {
    const world = sharing();
    await world.send("orders", ["a", "b"]);
    await world.quiet();
    world.crash("orders");
    await world.pass(HEARTBEAT_MS);
    expect(world.seen.map(({ messages }) => messages.map(({ attempts }) => attempts))).toEqual([
      [1, 1],
      [2, 2],
    ]);
    await world.pass(LINGER_MS_MAX);
    expect(leased(world)).toBe(0);
  });

  it("comes no more after a crash behind the commit", async () => {
    const world = sharing();
    await world.sendAndPass("orders", ["a", "b"], LINGER_MS);
    world.crash("orders");
    await world.pass(HEARTBEAT_MS);
    expect(world.seen).toHaveLength(1);
  });

  it("is settled for a process that asks what is in delivery", async () => {
    const world = sharing();
    await world.send("orders", ["a", "b"]);
    await world.quiet();
    await world.core("orders").caughtUp();
    expect(leased(world)).toBe(0);
    expect(await commitsDuring(world, () => world.core("orders").caughtUp())).toBe(0);
  });

  it.each<[string, (world: World) => Promise<unknown>]>([
    ["a count of messages", (world) => world.core("orders").messageCounts()],
    ["a purge", (world) => world.core("orders").purge()],
    ["a drain", (world) => world.core("orders").drain()],
    ["a new configuration", (world) => pause(world)],
    ["the alarm", (world) => world.core("orders").wake()],
    ["a look at messages", (world) => world.core("orders").submit(() => {})],
  ])("is settled with %s, before it", async (_, call) => {
    const world = sharing();
    await world.send("orders", ["a", "b"]);
    await world.quiet();
    expect(await commitsDuring(world, () => call(world))).toBe(1);
    expect(leased(world)).toBe(0);
  });

  it("is not in the figures that senders and clients get", async () => {
    const world = sharing();
    await world.send("orders", ["a", "b"]);
    await world.quiet();
    const waiting = world.core("orders").metrics();
    await world.core("orders").caughtUp();
    expect(world.core("orders").metrics()).toEqual(waiting);
  });
});

describe("the linger of a settlement", () => {
  /** Whether the commit of the settlement followed the delivery at once. */
  async function settledAtOnce(world: World, send: () => Promise<unknown>): Promise<boolean> {
    await send();
    await world.quiet();
    return world.handled.length > 0;
  }

  it("a settlement does not linger when a message is to be retried, or a handler has failed", async () => {
    const failures: Handler[] = [
      (batch) => ({ retryMessages: [{ msgId: batch.messages[0]?.id ?? "" }] }),
      () => ({ retryBatch: { retry: true } }),
      () => ({ outcome: "exception" }),
    ];
    for (const handler of failures) {
      const world = sharing({ retryDelaySeconds: 60 });
      world.handler = handler;
      expect(await settledAtOnce(world, () => world.send("orders", ["a", "b"]))).toBe(true);
    }
  });

  it("a settlement does not linger when messages die", async () => {
    const world = sharing({ maxRetries: 0, deadLetterQueue: "dead" });
    world.handler = () => ({ retryBatch: { retry: true } });
    expect(await settledAtOnce(world, () => world.send("orders", ["a", "b"]))).toBe(true);
    expect(world.core("dead").metrics().backlogCount).toBe(2);
  });

  it("a settlement does not linger when a batch waits for its slot", async () => {
    const world = sharing({ maxConcurrency: 1 });
    await world.send("orders", ["a", "b", "c", "d", "e", "f"]);
    await world.quiet();
    expect(world.seen).toHaveLength(3);
    expect(world.handled).toHaveLength(2);
  });

  it("a settlement does not linger when a batch becomes due before the end of the linger", async () => {
    const world = sharing({ maxConcurrency: 1, maxBatchTimeoutSeconds: 1 });
    const release = Promise.withResolvers<void>();
    world.handler = async () => {
      if (world.seen.length === 1) await release.promise;
      return {};
    };
    await world.send("orders", ["a", "b"]);
    await world.sendAndPass("orders", ["c"], 1_000 - LINGER_MS_MAX);
    release.resolve();
    await world.quiet();
    expect(world.handled).toHaveLength(1);
    await world.pass(LINGER_MS_MAX);
    expect(world.seen).toHaveLength(2);
  });

  it("a settlement does not linger on a FIFO queue with waiting messages, which may be of its groups", async () => {
    const world = sharing({ maxBatchTimeoutSeconds: 60 }, { fifo: {} });
    const send = (bodies: string[]) => world.send("orders", bodies, { groups: bodies.map(() => "g") });
    expect(await settledAtOnce(world, () => send(["a", "b"]))).toBe(false);
    const behind = sharing({ maxBatchTimeoutSeconds: 60 }, { fifo: {} });
    const sendBehind = () => behind.send("orders", ["a", "b", "c"], { groups: ["g", "g", "g"] });
    expect(await settledAtOnce(behind, sendBehind)).toBe(true);
  });

  it("a settlement does not linger under a throttle", async () => {
    const world = sharing({}, { maxReceivesPerSecond: 1_000 });
    expect(await settledAtOnce(world, () => world.send("orders", ["a", "b"]))).toBe(true);
  });

  it("a settlement does not linger when it proves that an endpoint is back", async () => {
    const world = new World({ orders: { consumer: endpoint() } });
    world.sharesCommits = true;
    world.answer = () => ({ kind: "unreachable", reason: "connection refused" });
    await world.sendAndPass("orders", ["a"], BACKOFF_FIRST_MS - 1);
    world.answer = () => answered(200);
    await world.pass(1);
    expect(world.posts).toHaveLength(2);
    expect(world.handled).toEqual([["orders", 1, 1]]);
    await world.send("orders", ["b"]);
    await world.quiet();
    expect(world.posts).toHaveLength(3);
    expect(world.handled).toHaveLength(1);
  });
});

async function pause(world: World): Promise<void> {
  await world.core("orders").reconfigure(
    () => {
      world.queues.orders = { ...world.queues.orders, deliveryPaused: true } as never;
    },
    () => {},
  );
}
