import { expect, it } from "vitest";
import { bodiesOf, consumer } from "../../test/messages.ts";
import { WORLD_START_MS, World } from "../../test/world.ts";
import { BACKOFF_FIRST_MS } from "../platform/backoff.ts";

const HELD_MS = 10_000;
const one = { maxBatchSize: 1, maxBatchTimeoutSeconds: 0 };

function held(): World {
  const world = new World({ orders: { consumer: consumer(one) } });
  world.heldUntilMs = WORLD_START_MS + HELD_MS;
  return world;
}

it("a consumer that has to wait for other Workers gets nothing until its turn, and then what waits, by the queue's own alarm", async () => {
  const world = held();
  await world.sendAndPass("orders", ["a"], 1);
  expect(world.alarmIn("orders")).toBe(HELD_MS - 1);
  world.crash("orders");
  await world.pass(HELD_MS - 2);
  expect([world.seen, world.pings]).toEqual([[], 0]);
  await world.pass(1);
  expect(bodiesOf(world.seen)).toEqual([["a"]]);
  await world.sendAndPass("orders", ["b"]);
  expect(bodiesOf(world.seen)).toEqual([["a"], ["b"]]);
});

it("a consumer that has to wait for other Workers is reported to begin then", async () => {
  const world = held();
  await world.send("orders", ["a"]);
  const core = world.core("orders");
  const untilMs = WORLD_START_MS + HELD_MS;
  expect(core.messages.why()).toMatchObject({
    reason: "consumerAway",
    text: expect.stringMatching(/begin one after the other: ".+" at 2\S+Z\.$/),
    untilMs,
  });
  expect(core.describe().consumer?.next).toEqual({ waitsFor: "return", atMs: untilMs });
  await world.pass(HELD_MS);
  expect(core.messages.why().reason).toBe("empty");
});

it("a consumer that has to wait for other Workers is asked whether it is there after its turn has come alone", async () => {
  const world = held();
  world.running = false;
  await world.sendAndPass("orders", ["a"], HELD_MS);
  expect(world.pings).toBe(0);
  await world.pass(BACKOFF_FIRST_MS);
  expect(world.pings).toBe(1);
});

it("a consumer that has to wait for other Workers costs a queue without messages no alarm", async () => {
  const world = held();
  await world.core("orders").wake();
  expect(world.alarmIn("orders")).toBeNull();
});
