import { randomFrom } from "@sluice/protocol";
import { expect, it } from "vitest";
import { mean } from "../measure/statistics.ts";
import { ObjectThread } from "./object-thread.ts";
import { VirtualTime } from "./virtual-time.ts";

it("events run in order of time, those of one moment in the order in which they were set", async () => {
  const time = new VirtualTime();
  const random = randomFrom(3);
  const ran: number[] = [];
  const set = Array.from({ length: 500 }, () => Math.floor(20 * random()));
  for (const [i, ms] of set.entries()) time.after(ms, () => ran.push(i));
  await time.runOut();
  const order = [...set.keys()].sort((a, b) => (set[a] ?? 0) - (set[b] ?? 0) || a - b);
  expect(ran).toEqual(order);
});

it("promises that an event resolves go on before the next event", async () => {
  const time = new VirtualTime();
  const ran: string[] = [];
  void (async () => {
    await time.sleep(1);
    for (let i = 0; i < 20; i++) await null;
    ran.push(`slept to ${time.now()}`);
    await time.sleep(1);
    ran.push(`slept to ${time.now()}`);
  })();
  time.after(1.5, () => ran.push("event at 1.5"));
  await time.runOut();
  expect(ran).toEqual(["slept to 1", "event at 1.5", "slept to 2"]);
});

it("a cancelled event does not run, and events behind the end wait", async () => {
  const time = new VirtualTime();
  const ran: string[] = [];
  time.after(1, () => ran.push("cancelled"))();
  time.after(2, () => ran.push("in time"));
  time.after(3.1, () => ran.push("late"));
  await time.runUntil(3);
  expect([ran, time.now()]).toEqual([["in time"], 3]);
  await time.runOut();
  expect([ran, time.now()]).toEqual([["in time", "late"], 3.1]);
});

it("a thread does one thing after the other, and nothing before it has been held", async () => {
  const time = new VirtualTime();
  const thread = new ObjectThread(time);
  const ended: [string, number][] = [];
  const run = async (name: string, ms: number, holdMs = 0) => {
    await thread.run(ms);
    ended.push([name, time.now()]);
    if (holdMs > 0) thread.hold(holdMs);
  };
  void run("a", 2, 5);
  void run("b", 1);
  time.after(20, () => void run("c", 3));
  await time.runOut();
  expect(ended).toEqual([
    ["a", 2],
    ["b", 8],
    ["c", 23],
  ]);
  expect(thread.busyMs).toBe(11);
});

it.each([0.3, 0.6, 0.8])(
  "work that comes at random waits as in a queue M/D/1, at a load of %d",
  async (load) => {
    const time = new VirtualTime();
    const thread = new ObjectThread(time);
    const random = randomFrom(7);
    const waitMs: number[] = [];
    const come = (left: number) => {
      const cameMs = time.now();
      void thread.run(1).then(() => waitMs.push(time.now() - cameMs - 1));
      if (left > 1) time.after(-Math.log(1 - random()) / load, () => come(left - 1));
    };
    come(50_000);
    await time.runOut();
    const expected = load / (2 * (1 - load));
    expect(Math.abs(mean(waitMs) / expected - 1)).toBeLessThan(0.08);
  },
);
