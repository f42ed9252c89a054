import { describe, expect, it } from "vitest";
import { bodiesOf, consumer } from "../../test/messages.ts";
import { World } from "../../test/world.ts";
import { FRESH_BYTES_MAX, WAITING_BYTES_MAX } from "../store/payload-cache.ts";
import { HEARTBEAT_MS } from "../turn/heartbeat.ts";

const atOnce = { maxBatchTimeoutSeconds: 0 };

it("a turn of a queue is at one moment, though the clock goes on", async () => {
  const world = new World({ orders: {} });
  const core = world.core("orders");
  world.ticks = true;
  const momentsOf = () => [core.nowMs, core.nowMs];
  const [[first, ...others], later] = await Promise.all([
    core.submit(() => [...momentsOf(), ...momentsOf()]),
    core.submit(momentsOf),
  ]);
  expect(new Set(others)).toEqual(new Set([first]));
  expect(later[0]).toBeGreaterThan(first ?? Number.NaN);
  const between = momentsOf();
  expect(between[1]).toBeGreaterThan(between[0] ?? Number.NaN);
});

describe("group commit of a queue", () => {
  it("stores all sends that arrive while a commit is in flight with one further commit", async () => {
    const world = new World({ orders: {} });
    const store = world.store("orders");
    store.hold();
    const replies = Array.from({ length: 50 }, (_, i) => world.send("orders", [`message ${i}`]));
    expect(store.commits).toBe(1);
    store.syncNow();
    await world.quiet();
    expect(store.commits).toBe(2);
    store.release();
    expect((await Promise.all(replies)).every((reply) => reply.ok)).toBe(true);
    expect(world.core("orders").describe().ready).toBe(50);
    // One row for the segment, one for its longer self, one for the queue's name.
    expect(store.rowsWritten).toBe(3);
  });

  it("answers a send when it is durable and not before; a crash before that loses it", async () => {
    const world = new World({ orders: { consumer: consumer({ maxBatchSize: 1 }) } });
    const store = world.store("orders");
    store.hold();
    let answered = false;
    void world.send("orders", ["unanswered"]).then(() => {
      answered = true;
    });
    await world.quiet();
    expect(answered).toBe(false);
    expect(world.seen).toEqual([]);
    world.crash("orders");
    await world.pass(60_000);
    expect(answered).toBe(false);
    expect(world.core("orders").describe().ready).toBe(0);
    expect(world.seen).toEqual([]);
  });

  it.each([1, 2])(
    "keeps nothing of a turn whose write %i fails, and starts again from its store",
    async (k) => {
      const world = new World({ orders: { consumer: consumer({ ...atOnce, maxBatchSize: 1 }) } });
      const core = world.core("orders");
      world.store("orders").failWrite(k);
      await expect(world.send("orders", ["refused"])).rejects.toThrow("the disk failed");
      expect(world.broken).toHaveLength(1);
      expect(world.core("orders")).not.toBe(core);
      expect(world.core("orders").describe()).toMatchObject({ ready: 0, leased: 0 });
      await world.sendAndPass("orders", ["taken"]);
      expect(bodiesOf(world.seen)).toEqual([["taken"]]);
    },
  );

  it("delivers again what a failing commit has settled", async () => {
    const world = new World({ orders: { consumer: consumer({ ...atOnce, maxBatchSize: 1 }) } });
    const settled = Promise.withResolvers<object>();
    world.handler = () => settled.promise;
    await world.sendAndPass("orders", ["one"]);
    world.store("orders").failWrite(1);
    world.handler = () => ({});
    settled.resolve({});
    await world.pass(HEARTBEAT_MS);
    expect(world.broken).toHaveLength(1);
    expect(world.seen.map((batch) => batch.messages[0]?.attempts)).toEqual([1, 2]);
    expect(world.core("orders").describe()).toMatchObject({ ready: 0, leased: 0 });
  });
});

describe("payloads in memory", () => {
  it("are read from the store once, and not at all for what was just sent", async () => {
    const world = new World({
      orders: { consumer: consumer({ ...atOnce, maxBatchSize: 1, maxConcurrency: 1 }) },
    });
    const read: number[] = [];
    const watch = () => {
      const store = world.store("orders");
      const { readPayload } = store;
      store.readPayload = (id) => {
        read.push(id);
        return readPayload.call(store, id);
      };
    };
    watch();
    world.running = false;
    await world.sendAndPass("orders", ["a", "b", "c"]);
    expect(read).toEqual([]);
    world.crash("orders");
    watch();
    world.running = true;
    await world.pass(60_000);
    expect(world.seen).toHaveLength(3);
    expect(read).toHaveLength(1);
  });

  it("are cut back to the cache's size after every commit: the first are kept, and the last", async () => {
    const world = new World({ orders: {} });
    const core = world.core("orders");
    const body = "x".repeat(127_000);
    const full = FRESH_BYTES_MAX + WAITING_BYTES_MAX;
    for (let sent = 0; sent <= full + FRESH_BYTES_MAX; sent += body.length)
      await world.send("orders", [body]);
    const segments = [...core.queue.segments.keys()];
    const isKept = (id = 0) => core.cache.written(id) !== undefined;
    expect([isKept(segments[0]), isKept(segments.at(-1))]).toEqual([true, true]);
    expect(segments.filter(isKept).length * body.length).toBeLessThanOrEqual(full);
    expect(segments.every(isKept)).toBe(false);
  });
});
