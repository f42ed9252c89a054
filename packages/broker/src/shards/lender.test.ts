import type { PartRequest } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { LEARN_AGAIN_MS, Lender } from "./lender.ts";

const none = { part: 0, used: 0, wanted: 0 };

it.each([-1, 0, 1])("messages per second are lent a second after shard 0 began, and %i ms", async (more) => {
  const clock = { nowMs: 0 };
  const lender = new Lender({
    now: () => clock.nowMs,
    limits: () => ({ deliveries: null, messages: 2 }),
    others: () => [1],
    emptyAsOf: () => 0,
    partOf: async (shard) => ({ shard, number: 1, deliveries: none, messages: none }),
  });
  const ask = (number: number): PartRequest => ({
    shard: 1,
    number,
    deliveries: none,
    messages: { ...none, wanted: 2 },
  });
  await lender.lend(ask(2));
  clock.nowMs = 1_000 + more;
  const { messages } = await lender.lend(ask(3));
  expect(messages?.units).toBe(more < 0 ? 0 : 2);
});

describe("a shard that has nothing to do", () => {
  /** Shard 0 of a queue that lends two deliveries, and what it asks the shards. */
  function lenderOf(shards: number) {
    const world = { nowMs: 0, shards, silent: new Set<number>(), asked: [] as number[] };
    const lender = new Lender({
      now: () => world.nowMs,
      limits: () => ({ deliveries: 2, messages: null }),
      others: () => Array.from({ length: world.shards - 1 }, (_, i) => i + 1),
      emptyAsOf: () => 0,
      partOf: async (shard) => {
        world.asked.push(shard);
        if (world.silent.has(shard)) throw new Error("out of reach");
        return { shard, number: 1, deliveries: none, messages: none };
      },
    });
    let number = 1;
    const ask = async (shard: number) => {
      number += 1;
      const deliveries = { ...none, wanted: 1 };
      const { deliveries: lent } = await lender.lend({ shard, number, deliveries, messages: none });
      await new Promise((resolve) => setImmediate(resolve));
      return lent?.units;
    };
    return { world, ask };
  }

  it("does not keep the others from their parts after a queue has grown", async () => {
    const { world, ask } = lenderOf(2);
    expect(await ask(1)).toBe(1);
    world.nowMs = LEARN_AGAIN_MS;
    world.shards = 4;
    expect(await ask(2)).toBe(0);
    expect(await ask(2)).toBe(1);
  });

  it.each([-1, 0])("is asked again, %i ms after its pause, when it has not answered", async (more) => {
    const { world, ask } = lenderOf(3);
    world.silent.add(2);
    expect(await ask(1)).toBe(0);
    world.silent.clear();
    world.nowMs = LEARN_AGAIN_MS + more;
    expect(await ask(1)).toBe(0);
    expect(await ask(1)).toBe(more < 0 ? 0 : 1);
    expect(world.asked).toEqual(more < 0 ? [2] : [2, 2]);
  });

  it("is not asked again when nothing of an earlier shard 0 can be in use", async () => {
    const { world, ask } = lenderOf(3);
    world.silent.add(2);
    expect(await ask(1)).toBe(0);
    world.nowMs = 970_000;
    expect(await ask(1)).toBe(1);
    expect(world.asked).toEqual([2]);
  });
});

describe("a queue with one delivery at a time", () => {
  /** Shard 0 of a queue that was created at 100 and has so many shards. */
  function lenderOfOne(shards: number) {
    const map = { kept: shards };
    const others = () => Array.from({ length: map.kept - 1 }, (_, i) => i + 1);
    const lender = new Lender({
      now: () => 10_000,
      limits: () => ({ deliveries: 1, messages: null }),
      others,
      emptyAsOf: () => 100,
      partOf: async (shard) => ({ shard, number: 1, deliveries: none, messages: none }),
    });
    let number = 1;
    const ask = async (shard: number, used: number, wanted: number, epoch?: number) => {
      number += 1;
      const deliveries = { part: used, used, wanted };
      const members = {
        shard,
        number,
        deliveries,
        messages: none,
        ...(epoch === undefined ? {} : { epoch }),
      };
      return (await lender.lend(members)).deliveries?.units;
    };
    return { map, ask };
  }

  it("has it back when the shard goes that had it, though it did not say so", async () => {
    const { map, ask } = lenderOfOne(3);
    expect(await ask(2, 1, 1)).toBe(1);
    expect(await ask(1, 0, 1)).toBe(0);
    // It goes when it delivers nothing any more.
    map.kept = 2;
    expect(await ask(1, 0, 1)).toBe(1);
  });

  it("lends nothing to a shard that is gone, and counts nothing of what that says", async () => {
    const { ask } = lenderOfOne(2);
    expect(await ask(2, 1, 1)).toBe(0);
    expect(await ask(1, 0, 1)).toBe(1);
  });

  it.each([
    [99, 0, 1],
    [100, 1, 0],
    [101, 1, 0],
    [undefined, 1, 0],
  ])("with a map of %s lends to a shard %i, then %i", async (epoch, units, others) => {
    const { ask } = lenderOfOne(3);
    expect(await ask(1, 1, 1, epoch)).toBe(units);
    expect(await ask(2, 0, 1, 200)).toBe(others);
  });
});

describe("a question that comes late to a shard 0 that has begun anew", () => {
  /** Shard 0 that began at 1,000. Shard 1 has one of two deliveries by what it answers, which it got after `late`. */
  function begunAnew() {
    const asked: number[] = [];
    const world = { nowMs: 1_000, isOutOfReach: false };
    const lender = new Lender({
      now: () => world.nowMs,
      limits: () => ({ deliveries: 1, messages: null }),
      others: () => [1, 2],
      emptyAsOf: () => 0,
      partOf: async (shard) => {
        asked.push(shard);
        if (shard === 1 && world.isOutOfReach) throw new Error("out of reach");
        const deliveries = shard === 1 ? { part: 1, used: 1, wanted: 1 } : none;
        return { shard, number: 8, deliveries, messages: none, lender: 1_000 };
      },
    });
    const ask = async (shard: number, number: number, knows: number) => {
      const deliveries = { ...none, wanted: 1 };
      const { deliveries: lent } = await lender.lend({
        shard,
        number,
        deliveries,
        messages: none,
        lender: knows,
      });
      return lent?.units;
    };
    return { ask, asked, world };
  }

  it("says nothing about what the shard has been lent since", async () => {
    const { ask, asked } = begunAnew();
    expect(await ask(1, 7, 500)).toBe(0);
    expect(asked).toEqual([1, 2]);
    expect(await ask(2, 9, 1_000)).toBe(0);
  });

  it("says nothing either where the shard cannot be asked: its answer is taken down when it comes", async () => {
    const { ask, world } = begunAnew();
    world.isOutOfReach = true;
    expect(await ask(1, 7, 500)).toBe(0);
    world.isOutOfReach = false;
    world.nowMs += LEARN_AGAIN_MS;
    await ask(2, 9, 1_000);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await ask(2, 10, 1_000)).toBe(0);
  });

  it("is one of a shard that has heard of it where that says so", async () => {
    const { ask, asked } = begunAnew();
    expect(await ask(2, 9, 1_000)).toBe(0);
    expect(asked).toEqual([1]);
  });
});
