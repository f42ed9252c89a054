import { Random } from "@sluice/harness/random";
import { describe, expect, it } from "vitest";
import { EventLog } from "../history/event-log.ts";
import { NO_FAULT_RATES, noFaults } from "../history/faults.ts";
import { VirtualLoop } from "../history/virtual-loop.ts";
import { World } from "../history/world.ts";
import { Network } from "./network.ts";

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

describe("what travels", () => {
  it("is counted until the last copy has arrived: a late one must not find everybody gone", () => {
    const world = worldWith({ doubled: 1, delayed: 1 });
    const seen: number[] = [];
    new Network(world).send<string>({
      arrives: (reply) => {
        reply("yes");
        seen.push(world.travelling);
      },
      answered: () => {},
      failed: () => {},
    });
    expect(world.travelling).toBe(2);
    for (let run = world.loop.next(); run !== undefined; run = world.loop.next()) run();
    expect(seen).toHaveLength(2);
    expect(Math.min(...seen)).toBeGreaterThan(0);
    expect(world.travelling).toBe(0);
  });

  it("is counted until its caller has heard that it is lost", () => {
    const world = worldWith({ lostRequest: 1 });
    const heard: unknown[] = [];
    new Network(world).send({
      arrives: () => {},
      answered: () => {},
      failed: (error) => heard.push(error),
    });
    expect(world.travelling).toBe(1);
    world.loop.next()?.();
    expect([heard.length, world.travelling]).toEqual([1, 0]);
  });
});
