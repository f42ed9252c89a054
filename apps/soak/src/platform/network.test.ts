import { Random } from "@sluice/harness/random";
import { expect, it } from "vitest";
import { EventLog } from "../world/event-log.ts";
import { NO_FAULT_RATES, noFaults } from "../world/faults.ts";
import { microtasksDone, VirtualLoop } from "../world/virtual-loop.ts";
import { World } from "../world/world.ts";
import { exchange } from "./network.ts";

function worldWith(rates: Partial<typeof NO_FAULT_RATES>): World {
  const random = new Random(1);
  const loop = new VirtualLoop(random);
  return new World({
    random,
    loop,
    log: new EventLog(false),
    faults: noFaults(),
    rates: { ...NO_FAULT_RATES, ...rates },
    bug: null,
  });
}

it("what travels is counted until the last copy has arrived: a late one must not find everybody gone", async () => {
  const world = worldWith({ doubled: 1, delayed: 1 });
  const seen: number[] = [];
  let arrived = 0;
  void exchange(world, async () => {
    arrived += 1;
  });
  expect(world.travelling).toBe(2);
  for (let run = world.loop.next(); run !== undefined; run = world.loop.next()) {
    run();
    await microtasksDone();
    seen.push(world.travelling);
  }
  expect(arrived).toBe(2);
  // Two requests, and two replies to each of them.
  expect(seen).toHaveLength(6);
  expect(seen.map((count) => count > 0)).toEqual([true, true, true, true, true, false]);
});

it("what travels is counted until its caller has heard that it is lost", async () => {
  const world = worldWith({ lostRequest: 1 });
  const heard: unknown[] = [];
  exchange(world, async () => {}).catch((error: unknown) => heard.push(error));
  expect(world.travelling).toBe(1);
  world.loop.next()?.();
  await microtasksDone();
  expect([heard.length, world.travelling]).toEqual([1, 0]);
});
