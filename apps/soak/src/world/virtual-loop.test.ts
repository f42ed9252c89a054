import { Random } from "@sluice/harness/random";
import { describe, expect, it } from "vitest";
import { HISTORY_START_MS, microtasksDone, VirtualLoop } from "./virtual-loop.ts";

function loopOf(seed: number) {
  const loop = new VirtualLoop(new Random(seed));
  const happened: string[] = [];
  const runAll = () => {
    for (let run = loop.next(); run !== undefined; run = loop.next()) run();
    return happened;
  };
  return { loop, happened, runAll };
}

describe("the virtual event loop", () => {
  it("takes events in order of time, whatever the order in which they were scheduled", () => {
    const { loop, happened, runAll } = loopOf(1);
    const random = new Random(5);
    for (let i = 0; i < 300; i++) {
      const inMs = random.below(1_000);
      loop.after(inMs, () => happened.push(String(inMs).padStart(4, "0")));
    }
    expect(runAll()).toEqual(happened.toSorted());
    expect(loop.events).toBe(300);
  });

  it("lets the seed decide between events of one moment", () => {
    const orders = new Set<string>();
    for (let seed = 0; seed < 50; seed++) {
      const { loop, happened, runAll } = loopOf(seed);
      for (const name of ["a", "b", "c"]) loop.after(5, () => happened.push(name));
      orders.add(runAll().join(""));
    }
    expect(orders.size).toBe(6);
  });

  it("moves the clock from event to event, and never back", () => {
    const { loop, runAll } = loopOf(1);
    const times: number[] = [];
    loop.after(10, () => times.push(loop.nowMs - HISTORY_START_MS));
    loop.after(20, () => loop.jump(100));
    loop.after(30, () => times.push(loop.nowMs - HISTORY_START_MS));
    runAll();
    expect(times).toEqual([10, 120]);
  });

  it("passes over what was cancelled", () => {
    const { loop, happened, runAll } = loopOf(1);
    loop.after(1, () => happened.push("kept"));
    loop.after(1, () => happened.push("cancelled")).isCancelled = true;
    expect(runAll()).toEqual(["kept"]);
    expect(loop.events).toBe(1);
  });
});

it("the end of the microtasks comes after the longest chain of promises", async () => {
  let links = 0;
  void (async () => {
    for (; links < 5_000; links++) await null;
  })();
  await microtasksDone();
  expect(links).toBe(5_000);
});
