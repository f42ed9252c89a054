import { expect, it } from "vitest";
import { World } from "../../test/world.ts";
import { nextMomentOf } from "./next-wake.ts";

it("what has become visible is not what comes next in a queue that nothing is pushed from", async () => {
  const world = new World({ orders: {} });
  const startMs = world.nowMs;
  await world.send("orders", ["a"], { delaySeconds: 100 });
  await world.send("orders", ["b"], { delaySeconds: 200 });
  expect(nextMomentOf(world.core("orders")).atMs).toBe(startMs + 100_000);
  await world.pass(100_000);
  expect(nextMomentOf(world.core("orders")).atMs).toBe(startMs + 200_000);
});
