import { makeUnreadable, PackedIndex, unpackMessages } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { bodiesOf, consumer } from "../../test/messages.ts";
import { WORLD_START_MS, World, worldWithHistory } from "../../test/world.ts";
import { SEGMENT_BYTES_MAX } from "../send/accepted-batch.ts";
import { HEARTBEAT_MS } from "../turn/heartbeat.ts";

/** Size of the source that a dead letter of "orders" names, in bytes. No part of the letter's size. */
const SOURCE_BYTES = 11;

const failing = { maxBatchTimeoutSeconds: 0, maxRetries: 0 };

/** "orders" fails every message at once, "dead" takes what it is given. */
function worldWithGraveyard(
  settings: Parameters<typeof consumer>[0] = {},
  dead: ConstructorParameters<typeof World>[0][string] = {},
): World {
  const world = new World({
    orders: { consumer: consumer({ ...failing, deadLetterQueue: "dead", ...settings }) },
    dead,
  });
  world.handler = (batch) => (batch.queue === "orders" ? { outcome: "exception", error: "Error: boom" } : {});
  return world;
}

describe("the dead-letter queue", () => {
  it("gets a message after max_retries + 1 deliveries, id and timestamp kept; its attempts begin again", async () => {
    const world = worldWithGraveyard({ maxRetries: 2 }, { consumer: consumer(failing) });
    await world.sendAndPass("orders", ["doomed"], 1_000);
    expect(world.seen.map(({ queue, messages: [first] }) => [queue, first?.attempts])).toEqual([
      ["orders", 1],
      ["orders", 2],
      ["orders", 3],
      ["dead", 1],
    ]);
    const [first, , , deadLetter] = world.seen;
    expect(deadLetter?.messages).toEqual(first?.messages);
    expect(deadLetter?.messages[0]?.timestampMs).toBe(WORLD_START_MS);
    expect(world.lines).toContain(
      `info: Moving message "${first?.messages[0]?.id}" on queue "orders" to dead letter queue "dead" ` +
        "after 3 failed attempt(s): Error: boom",
    );
    expect(world.core("orders").metrics().backlogCount).toBe(0);
  });

  it("is created when no configuration names it", async () => {
    const world = new World({ orders: { consumer: consumer({ ...failing, deadLetterQueue: "unnamed" }) } });
    world.handler = () => ({ outcome: "exception" });
    await world.sendAndPass("orders", ["doomed"]);
    expect(world.core("unnamed").describe()).toMatchObject({ ready: 1, delayed: 0, backlogBytes: 6 });
  });

  // conformance: dead-letter-retention
  it("keeps messages for its own retention, counted from their arrival", async () => {
    const world = worldWithGraveyard({}, { messageRetentionSeconds: 60 });
    await world.sendAndPass("orders", ["doomed"], 3_600_000, { delaySeconds: 3_600 });
    expect(world.core("dead").metrics()).toMatchObject({
      backlogCount: 1,
      oldestMessageTimestampMs: WORLD_START_MS + 3_600_000,
    });
    await world.pass(59_999);
    expect(world.core("dead").metrics().backlogCount).toBe(1);
    await world.pass(1);
    expect(world.core("dead").metrics().backlogCount).toBe(0);
  });

  // conformance: dead-letter-delay
  it("applies its own delivery_delay, and not the delay that the message was sent with", async () => {
    const world = worldWithGraveyard({}, { deliveryDelaySeconds: 30, consumer: consumer(failing) });
    await world.sendAndPass("orders", ["doomed"], 3_600_000, { ownDelays: [3_600] });
    expect(world.core("dead").describe()).toMatchObject({ ready: 0, delayed: 1 });
    await world.pass(29_999);
    expect(world.seen).toHaveLength(1);
    await world.pass(1);
    expect(bodiesOf(world.seen)).toEqual([["doomed"], ["doomed"]]);
  });

  it("gets everything though it is more than one transfer can hold", async () => {
    const world = worldWithGraveyard({ maxBatchSize: 100 });
    // Four records are as large as a transfer can be, to the byte.
    const bodies = Array.from({ length: 20 }, (_, i) =>
      `${i}`.padEnd(SEGMENT_BYTES_MAX / 4 - 40 - SOURCE_BYTES, "x"),
    );
    const parts: number[] = [];
    world.carry = (_target, { packed }, deliver) => {
      expect(packed.byteLength).toBeLessThanOrEqual(SEGMENT_BYTES_MAX);
      parts.push(unpackMessages(packed).length);
      return deliver();
    };
    for (let i = 0; i < 20; i += 2) await world.send("orders", bodies.slice(i, i + 2), { delaySeconds: 1 });
    await world.pass(1_000);
    expect(parts).toEqual([4, 4, 4, 4, 4]);
    expect(world.core("dead").metrics()).toMatchObject({
      backlogCount: 20,
      backlogBytes: 5 * SEGMENT_BYTES_MAX - 20 * (40 + SOURCE_BYTES),
    });
  });

  it("can have a dead-letter queue itself", async () => {
    const world = worldWithGraveyard({}, { consumer: consumer({ ...failing, deadLetterQueue: "deader" }) });
    world.handler = () => ({ outcome: "exception" });
    await world.sendAndPass("orders", ["doomed"]);
    const waiting = ["orders", "dead", "deader"].map((queue) => world.core(queue).metrics().backlogCount);
    expect(waiting).toEqual([0, 0, 1]);
  });
});

it("a message that is out of retries without a dead-letter queue is deleted, with a warning", async () => {
  const world = new World({ orders: { consumer: consumer(failing) } });
  world.handler = () => ({ outcome: "exceededCpu" });
  await world.sendAndPass("orders", ["doomed"]);
  const id = world.seen[0]?.messages[0]?.id;
  expect(world.lines).toEqual([
    `warn: Dropped message "${id}" on queue "orders" after 1 failed attempt(s): its handler ended with "exceededCpu"`,
  ]);
  expect([...world.store("orders").segments()]).toEqual([]);
  expect(world.store("orders").outbox()).toEqual([]);
});

it("a dead message whose payload is lost is reported and does not keep the queue from going on", async () => {
  const world = worldWithGraveyard({ maxBatchSize: 1, maxConcurrency: 1 });
  world.handler = () => new Promise(() => {});
  await world.sendAndPass("orders", ["lost"]);
  world.store("orders").damage(({ segments }) => {
    for (const [id, row] of segments) segments.set(id, { ...row, payload: row.payload.slice(1) });
  });
  world.crash("orders");
  world.handler = () => ({});
  await world.pass(HEARTBEAT_MS);
  await world.sendAndPass("orders", ["kept"], HEARTBEAT_MS);
  expect(world.broken).toEqual([]);
  expect(world.lines).toEqual([
    expect.stringMatching(/^error: Queue "orders": 1 message is lost: PackedFormatError/),
  ]);
  expect(bodiesOf(world.seen).slice(1)).toEqual([["kept"]]);
  expect(world.core("dead").metrics().backlogCount).toBe(0);
});

it("the history names each dead message at its own place, though one between them is damaged", async () => {
  const world = worldWithHistory({
    orders: { consumer: consumer({ ...failing, maxBatchTimeoutSeconds: 1, deadLetterQueue: "dead" }) },
    dead: {},
  });
  world.handler = () => new Promise(() => {});
  await world.sendAndPass("orders", ["a", "b", "c", "d"], 1_000);
  const ids = world.seen[0]?.messages.map(({ id }) => id) ?? [];
  world.store("orders").damage(({ segments }) => {
    for (const [id, row] of segments) {
      const payload = row.payload.slice();
      const { offsets } = new PackedIndex(payload);
      makeUnreadable(payload, offsets[1] ?? 0, offsets[2] ?? 0);
      segments.set(id, { ...row, payload });
    }
  });
  world.crash("orders");
  await world.pass(HEARTBEAT_MS);
  const deadIn = (id: string) =>
    world
      .core("orders")
      .history.story(id)
      .events.filter(({ kind }) => kind === "deadLettered")
      .flatMap((event) => event.ids);
  expect(ids.map(deadIn)).toEqual(ids.map((id, i) => (i === 1 ? [] : [id])));
});
