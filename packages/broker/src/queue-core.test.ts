import { describe, expect, it } from "vitest";
import { bodiesOf, consumer } from "../test/messages.ts";
import { World } from "../test/world.ts";
import { UNCOMMITTED_BYTES_MAX } from "./intake.ts";
import { HEARTBEAT_MS } from "./next-wake.ts";
import { CACHE_BYTES_MAX } from "./payload-cache.ts";

const atOnce = { maxBatchTimeoutSeconds: 0 };

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
    // One row for the segment, one for its longer self, two for the queue's name and life.
    expect(store.rowsWritten).toBe(4);
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

  it.each([1, 2, 3])(
    "keeps nothing of a turn whose write %i fails, and starts again from its store",
    async (k) => {
      const world = new World({ orders: { consumer: consumer({ ...atOnce, maxBatchSize: 1 }) } });
      const core = world.core("orders");
      world.store("orders").failWrite(k);
      await expect(world.send("orders", ["refused"])).rejects.toThrow("the disk failed");
      expect(world.broken).toHaveLength(1);
      expect(world.core("orders")).not.toBe(core);
      expect(world.core("orders").describe()).toMatchObject({ ready: 0, leased: 0 });
      await world.send("orders", ["taken"]);
      await world.pass(0);
      expect(bodiesOf(world.seen)).toEqual([["taken"]]);
    },
  );

  it("delivers again what a failing commit has settled", async () => {
    const world = new World({ orders: { consumer: consumer({ ...atOnce, maxBatchSize: 1 }) } });
    const settled = Promise.withResolvers<object>();
    world.handler = () => settled.promise;
    await world.send("orders", ["one"]);
    await world.pass(0);
    world.store("orders").failWrite(1);
    world.handler = () => ({});
    settled.resolve({});
    await world.pass(HEARTBEAT_MS);
    expect(world.broken).toHaveLength(1);
    expect(world.seen.map((batch) => batch.messages[0]?.attempts)).toEqual([1, 2]);
    expect(world.core("orders").describe()).toMatchObject({ ready: 0, leased: 0 });
  });
});

describe("sends that wait for their commit", () => {
  /** Bytes of a packed message around its body. */
  const header = 40;

  it.each([
    [-1, true],
    [0, true],
    [1, false],
  ])("are taken up to 32 MB, then refused with 10250: %i bytes over are taken: %s", async (over, taken) => {
    const world = new World({ orders: {} });
    const store = world.store("orders");
    store.hold();
    const full = "x".repeat(128_000 - header);
    const waiting = Array.from({ length: 249 }, () => world.send("orders", [full]));
    const last = world.send("orders", ["x".repeat(128_000 - header + over)]);
    if (over > -header) {
      // 250 times 128,000 bytes are the maximum to the byte.
      expect(UNCOMMITTED_BYTES_MAX).toBe(250 * 128_000);
    }
    const reply = taken
      ? { ok: true }
      : { ok: false, code: 10250, cause: "Queue is overloaded. Please back off." };
    if (taken) store.release();
    expect(await last).toMatchObject(reply);
    store.release();
    expect((await Promise.all(waiting)).every(({ ok }) => ok)).toBe(true);
  });

  it("are taken again when the commit is through", async () => {
    const world = new World({ orders: {} });
    const store = world.store("orders");
    store.hold();
    const full = "x".repeat(128_000 - header);
    const waiting = Array.from({ length: 250 }, () => world.send("orders", [full]));
    expect(await world.send("orders", [""])).toMatchObject({ ok: false, code: 10250 });
    store.release();
    await Promise.all(waiting);
    expect(await world.send("orders", [""])).toMatchObject({ ok: true, metrics: { backlogCount: 251 } });
  });
});

describe("the delay of a message (spec 1.5)", () => {
  it("is its own, else its batch's, else the queue's delivery_delay; an explicit 0 is one's own", async () => {
    const world = new World({
      orders: { deliveryDelaySeconds: 30, consumer: consumer({ ...atOnce, maxBatchSize: 1 }) },
    });
    const begunMs = world.nowMs;
    const arrived: [string | undefined, number][] = [];
    world.handler = ({ messages: [message] }) => {
      arrived.push([message?.body, (world.nowMs - begunMs) / 1_000]);
      return {};
    };
    await world.send("orders", ["own", "batch", "now"], { delaySeconds: 20, ownDelays: [10, undefined, 0] });
    await world.send("orders", ["queue"]);
    await world.send("orders", ["batch now"], { delaySeconds: 0 });
    await world.pass(60_000);
    expect(arrived).toEqual([
      ["now", 0],
      ["batch now", 0],
      ["own", 10],
      ["batch", 20],
      ["queue", 30],
    ]);
  });
});

describe("retention", () => {
  it("deletes what is older and says so", async () => {
    const world = new World({ orders: { messageRetentionSeconds: 60 } });
    await world.send("orders", ["a", "b"]);
    await world.pass(1_000);
    await world.send("orders", ["c"]);
    await world.pass(58_999);
    expect(world.core("orders").metrics()).toMatchObject({ backlogCount: 3 });
    await world.pass(1);
    expect(world.core("orders").metrics()).toMatchObject({ backlogCount: 1 });
    expect(world.lines).toEqual([
      'warn: Queue "orders": 2 message(s) were kept for the retention period of 60 s and are deleted',
    ]);
    await world.pass(1_000);
    expect(world.lines.slice(1)).toEqual([
      'warn: Queue "orders": 1 message(s) were kept for the retention period of 60 s and are deleted',
    ]);
    expect([...world.store("orders").segments()]).toEqual([]);
    expect(world.alarmIn("orders")).toBeNull();
  });
});

describe("the figures of a queue", () => {
  it("are as of now, without a turn in between", async () => {
    const world = new World({ orders: {} });
    await world.send("orders", ["a", "bb"], { delaySeconds: 5 });
    const sentMs = world.nowMs;
    const waiting = { backlogBytes: 3, oldestMessageTimestampMs: sentMs };
    expect(world.core("orders").describe()).toMatchObject({ ready: 0, delayed: 2, leased: 0, ...waiting });
    world.nowMs += 5_000;
    expect(world.core("orders").describe()).toMatchObject({ ready: 2, delayed: 0, leased: 0, ...waiting });
    expect(world.core("orders").metrics()).toEqual({ backlogCount: 2, ...waiting });
  });

  it("say 0 for the oldest message when none waits", async () => {
    const world = new World({ orders: {} });
    const nothing = { backlogBytes: 0, oldestMessageTimestampMs: 0 };
    expect(world.core("orders").metrics()).toEqual({ backlogCount: 0, ...nothing });
    expect(world.core("orders").describe()).toMatchObject({ ready: 0, delayed: 0, leased: 0, ...nothing });
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
    await world.send("orders", ["a", "b", "c"]);
    await world.pass(0);
    expect(read).toEqual([]);
    world.crash("orders");
    watch();
    world.running = true;
    await world.pass(60_000);
    expect(world.seen).toHaveLength(3);
    expect(read).toHaveLength(1);
  });

  it("are cut back to the cache's size after every commit, the oldest first", async () => {
    const world = new World({ orders: {} });
    const core = world.core("orders");
    const body = "x".repeat(127_000);
    const [segment] = [(await world.send("orders", [body])).ok && [...core.queue.segments.keys()][0]];
    expect(core.cache.get(Number(segment))).toBeDefined();
    for (let sent = 0; sent <= CACHE_BYTES_MAX; sent += body.length) await world.send("orders", [body]);
    expect(core.cache.get(Number(segment))).toBeUndefined();
    expect(core.cache.get([...core.queue.segments.keys()].at(-1) ?? 0)).toBeDefined();
  });
});

describe("a queue that starts again", () => {
  it("goes on by itself with what an earlier life left", async () => {
    const world = new World({ orders: { consumer: consumer({ maxBatchTimeoutSeconds: 60 }) } });
    await world.send("orders", ["a", "b"], { ownDelays: [30, 0] });
    world.crash("orders");
    await world.pass(59_999);
    expect(world.seen).toEqual([]);
    await world.pass(1);
    expect(bodiesOf(world.seen)).toEqual([["b", "a"]]);
    expect(world.seen[0]?.messages[0]?.attempts).toBe(1);
  });

  it("delivers again what was in delivery, counts the attempt, and says so", async () => {
    const world = new World({ orders: { consumer: consumer(atOnce) } });
    world.handler = () => new Promise(() => {});
    await world.send("orders", ["a", "b"]);
    await world.pass(0);
    world.handler = () => ({});
    world.crash("orders");
    await world.pass(HEARTBEAT_MS);
    expect(world.seen.map((batch) => batch.messages.map(({ body, attempts }) => [body, attempts]))).toEqual([
      [
        ["a", 1],
        ["b", 1],
      ],
      [
        ["a", 2],
        ["b", 2],
      ],
    ]);
    expect(world.lines).toEqual([
      'info: Queue "orders": 2 message(s) were in delivery when the broker stopped and are delivered again',
    ]);
  });

  it("says how many messages were in delivery, wherever in their segment they lie", async () => {
    const world = new World({
      orders: { consumer: consumer({ ...atOnce, maxBatchSize: 1, maxConcurrency: 1 }) },
    });
    world.handler = ({ messages: [message] }) => (message?.body === "b" ? new Promise(() => {}) : {});
    await world.send("orders", ["a", "b", "c"]);
    await world.pass(0);
    world.crash("orders");
    world.core("orders");
    await world.pass(0);
    expect(world.lines).toEqual([
      'info: Queue "orders": 1 message(s) were in delivery when the broker stopped and are delivered again',
    ]);
  });

  it("is woken by its alarm within the heartbeat while a delivery runs, however long it runs", async () => {
    const world = new World({ orders: { consumer: consumer(atOnce) } });
    world.handler = () => new Promise(() => {});
    await world.send("orders", ["a"]);
    for (let i = 0; i < 20; i++) {
      await world.pass(1_700);
      expect(world.alarmIn("orders")).toBeLessThanOrEqual(HEARTBEAT_MS);
    }
    expect(world.seen).toHaveLength(1);
  });

  it("ends deliveries that were the last attempt, once", async () => {
    const world = new World({ orders: { consumer: consumer({ ...atOnce, maxRetries: 0 }) } });
    world.handler = () => new Promise(() => {});
    await world.send("orders", ["poison"]);
    await world.pass(0);
    world.crash("orders");
    world.core("orders");
    await world.quiet();
    const [line, ...others] = world.lines;
    expect(line).toMatch(
      /^warn: Dropped message ".*" on queue "orders" after 1 failed attempt\(s\): the broker stopped/,
    );
    expect(others).toEqual([]);
    expect([...world.store("orders").segments()]).toEqual([]);
    world.crash("orders");
    world.core("orders");
    await world.quiet();
    expect(world.lines).toHaveLength(1);
  });

  it("leaves nothing in the store of messages that an earlier life had touched", async () => {
    const world = new World({ orders: { consumer: consumer({ ...atOnce, retryDelaySeconds: 60 }) } });
    world.handler = () => ({ outcome: "exception" });
    await world.send("orders", ["a", "b"]);
    await world.pass(0);
    world.handler = () => ({});
    world.crash("orders");
    await world.send("orders", ["c"]);
    await world.pass(60_000);
    world.store("orders").damage(({ segments, states }) => {
      expect([segments.size, states.size]).toEqual([0, 0]);
    });
  });

  it("leaves no state behind of messages that expire before they are touched again", async () => {
    const world = new World({
      orders: { messageRetentionSeconds: 60, consumer: consumer({ ...atOnce, retryDelaySeconds: 3_600 }) },
    });
    world.handler = () => ({ outcome: "exception" });
    await world.send("orders", ["a"]);
    await world.pass(0);
    world.crash("orders");
    await world.pass(60_000);
    world.store("orders").damage(({ segments, states }) => {
      expect([segments.size, states.size]).toEqual([0, 0]);
    });
  });

  it("writes nothing and sets no alarm when there is nothing", async () => {
    const world = new World({ orders: { consumer: consumer() } });
    world.core("orders");
    await world.pass(1_000_000);
    expect(world.store("orders").commits).toBe(0);
    expect(world.alarms).toEqual([]);
  });

  it("counts its lives, so that ids are never given twice", async () => {
    const world = new World({ orders: {} });
    for (let life = 1; life <= 3; life++) {
      await world.send("orders", [`of life ${life}`]);
      expect(world.store("orders").readEpoch()).toBe(life);
      world.crash("orders");
    }
    expect([...world.store("orders").segments()].map(({ id }) => Math.floor(id / 2 ** 32))).toEqual([
      1, 2, 3,
    ]);
  });
});

describe("damage", () => {
  it("of a segment's index leaves the segment out and says so, while the rest is delivered", async () => {
    const world = new World({ orders: { consumer: consumer({ maxBatchTimeoutSeconds: 60 }) } });
    await world.send("orders", ["lost"], { delaySeconds: 1 });
    await world.send("orders", ["kept"]);
    const [first, second] = [...world.store("orders").segments()];
    expect(second).toBeDefined();
    world.store("orders").damage(({ segments }) => {
      const row = segments.get(first?.id ?? 0);
      if (row !== undefined)
        segments.set(first?.id ?? 0, { ...row, index: row.index.map((byte) => byte ^ 1) });
    });
    world.crash("orders");
    await world.pass(60_000);
    expect(bodiesOf(world.seen)).toEqual([["kept"]]);
    expect(world.lines).toEqual([
      expect.stringContaining(
        `error: Queue "orders": segment ${first?.id} is damaged and left out, its messages are lost: ByteFormatError`,
      ),
    ]);
  });

  it("of a segment's state delivers its messages again from the first attempt, and says so", async () => {
    const world = new World({ orders: { consumer: consumer({ ...atOnce, retryDelaySeconds: 60 }) } });
    world.handler = (batch) => ({ retryMessages: batch.messages.slice(1).map(({ id }) => ({ msgId: id })) });
    await world.send("orders", ["acknowledged", "retried"]);
    await world.pass(0);
    world.handler = () => ({});
    world.store("orders").damage(({ states }) => {
      for (const [id, state] of states) states.set(id, state.slice(1));
    });
    world.crash("orders");
    world.lines.length = 0;
    world.core("orders");
    await world.pass(0);
    expect(world.seen[1]?.messages).toMatchObject([
      { body: "acknowledged", attempts: 1 },
      { body: "retried", attempts: 1 },
    ]);
    expect(world.lines).toEqual([
      expect.stringMatching(
        /^error: .* what happened to the messages of segment \d+ is damaged.*delivered again/,
      ),
    ]);
    world.store("orders").damage(({ segments, states }) => {
      expect([segments.size, states.size]).toEqual([0, 0]);
    });
  });
});
