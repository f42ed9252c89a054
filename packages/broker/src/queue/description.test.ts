import { expect, it } from "vitest";
import { World } from "../../test/world.ts";

it("the figures of a queue are as of now, without a turn in between", async () => {
  const world = new World({ orders: {} });
  await world.send("orders", ["a", "bb"], { delaySeconds: 5 });
  const sentMs = world.nowMs;
  const waiting = { backlogBytes: 3, oldestMessageTimestampMs: sentMs };
  expect(world.core("orders").describe()).toMatchObject({ ready: 0, delayed: 2, leased: 0, ...waiting });
  world.nowMs += 5_000;
  expect(world.core("orders").describe()).toMatchObject({ ready: 2, delayed: 0, leased: 0, ...waiting });
  expect(world.core("orders").metrics()).toEqual({ backlogCount: 2, ...waiting });
});

it.each([
  [0, {}],
  [7, { finishedMax: 7 }],
])("a queue that keeps %i finished messages says %j", (finishedMessages, said) => {
  const { finishedMax } = new World({ orders: { finishedMessages } }).core("orders").describe();
  expect(finishedMax === undefined ? {} : { finishedMax }).toEqual(said);
});

it("the figures of a queue say 0 for the oldest message when none waits", async () => {
  const world = new World({ orders: {} });
  const nothing = { backlogBytes: 0, oldestMessageTimestampMs: 0 };
  expect(world.core("orders").metrics()).toEqual({ backlogCount: 0, ...nothing });
  expect(world.core("orders").describe()).toMatchObject({ ready: 0, delayed: 0, leased: 0, ...nothing });
});
