import type { Part, PartRequest } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { ASK_AGAIN_MS, Borrower, IDLE_MS, type Need } from "./borrower.ts";

function borrower() {
  const asked: PartRequest[] = [];
  const answers: ((part: Part) => void)[] = [];
  const timers: { atMs: number; callback: () => void }[] = [];
  const world = { nowMs: 1_000, need: { used: 0, wanted: 0 } as Need | null, changes: 0 };
  const shard = new Borrower({
    shard: () => 3,
    now: () => world.nowMs,
    ask: (request) => {
      asked.push(request);
      return new Promise((resolve) => answers.push(resolve));
    },
    after: (callback, ms) => timers.push({ atMs: world.nowMs + ms, callback }),
    need: (kind) => (kind === "deliveries" ? world.need : null),
    changed: () => {
      world.changes += 1;
    },
  });
  const goTo = (nowMs: number) => {
    world.nowMs = nowMs;
    for (const timer of timers.splice(0)) {
      if (timer.atMs <= nowMs) timer.callback();
      else timers.push(timer);
    }
  };
  const answer = async (units: number, lender = 1) => {
    answers.shift()?.({ lender, deliveries: { units, expiresInMs: 10_000 }, messages: null });
    await Promise.resolve();
    await Promise.resolve();
  };
  return { shard, asked, world, goTo, answer };
}

describe("a shard", () => {
  it("asks nobody where the queue has no limit, and may do anything", () => {
    const { shard, asked, world } = borrower();
    world.need = null;
    shard.look();
    expect(shard.units("deliveries")).toBe(Number.POSITIVE_INFINITY);
    expect(asked).toEqual([]);
  });

  it("asks when it has work, and uses its part until it ends, counted from the question", async () => {
    const { shard, asked, world, answer } = borrower();
    world.need = { used: 0, wanted: 5 };
    shard.look();
    expect(asked).toMatchObject([{ shard: 3, deliveries: { part: 0, used: 0, wanted: 5 } }]);
    expect(shard.units("deliveries")).toBe(0);
    world.nowMs = 4_000;
    await answer(5);
    expect(world.changes).toBe(1);
    world.nowMs = 10_999;
    expect(shard.units("deliveries")).toBe(5);
    world.nowMs = 11_000;
    expect(shard.units("deliveries")).toBe(0);
  });

  it("asks again while it has less than it wants, one question at a time", async () => {
    const { shard, asked, world, answer, goTo } = borrower();
    world.need = { used: 0, wanted: 5 };
    shard.look();
    shard.look();
    await answer(2);
    expect(asked).toHaveLength(1);
    goTo(1_000 + ASK_AGAIN_MS);
    expect(asked).toHaveLength(2);
    expect(asked[1]?.number).toBeGreaterThan(asked[0]?.number ?? 0);
    expect(asked[1]?.deliveries.part).toBe(2);
  });

  it("ignores an answer that comes after the next question, and one of an earlier lender", async () => {
    const { shard, asked, world, answer, goTo } = borrower();
    world.need = { used: 0, wanted: 5 };
    shard.look();
    goTo(7_000);
    expect(asked).toHaveLength(2);
    await answer(5);
    expect(shard.units("deliveries")).toBe(0);
    expect(shard.tell(4)).toMatchObject({ shard: 3, deliveries: { part: 0 } });
    await answer(5);
    expect(shard.units("deliveries")).toBe(0);
  });

  it("gives its part back by one question when it has been idle for a while, and asks no more", async () => {
    const { shard, asked, world, answer, goTo } = borrower();
    world.need = { used: 0, wanted: 5 };
    shard.look();
    await answer(5);
    world.need = { used: 0, wanted: 0 };
    shard.look();
    goTo(1_000 + IDLE_MS);
    expect(asked).toHaveLength(2);
    expect(asked[1]?.deliveries).toEqual({ part: 0, used: 0, wanted: 0 });
    await answer(0);
    for (let nowMs = 2_000; nowMs < 60_000; nowMs += 100) goTo(nowMs);
    shard.look();
    expect(asked).toHaveLength(2);
  });

  it("asks nothing and takes nothing once its queue has ended, whatever was in use then", async () => {
    const { shard, asked, world, answer, goTo } = borrower();
    world.need = { used: 1, wanted: 5 };
    shard.look();
    shard.end();
    await answer(5);
    expect(shard.units("deliveries")).toBe(0);
    for (let nowMs = 2_000; nowMs < 60_000; nowMs += 100) goTo(nowMs);
    shard.look();
    expect(asked).toHaveLength(1);
  });

  it("gives up giving back after some questions that nobody answers", () => {
    const { shard, asked, world, goTo } = borrower();
    world.need = { used: 0, wanted: 1 };
    shard.look();
    world.need = { used: 0, wanted: 0 };
    for (let nowMs = 2_000; nowMs < 600_000; nowMs += 100) goTo(nowMs);
    expect(asked.length).toBeGreaterThan(1);
    expect(asked.length).toBeLessThan(8);
  });
});
