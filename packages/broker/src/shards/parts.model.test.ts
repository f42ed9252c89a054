import { HANDLER_WALL_CLOCK_MS_MAX, type Part, type PartRequest } from "@sluice/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Borrower } from "./borrower.ts";
import { Lender } from "./lender.ts";
import type { QueueLimits } from "./limits.ts";

/** Calls of a queue's shards on one virtual clock: every one can be late, doubled, or lost on its way there or back. */
class World {
  nowMs = 1_000_000;
  readonly limits: QueueLimits;
  readonly shards: Shard[];
  lender: Lender;
  #events: { readonly atMs: number; readonly number: number; readonly run: () => void }[] = [];
  #numbers = 0;
  #random: () => number;
  isFaulty = true;
  mostDelivering = 0;
  calls = 0;

  constructor(shards: number, limits: QueueLimits, seed: number) {
    this.limits = limits;
    this.#random = randomOf(seed);
    this.lender = this.#newLender();
    this.shards = Array.from({ length: shards }, (_, shard) => new Shard(this, shard));
  }

  random(): number {
    return this.#random();
  }

  at(afterMs: number, run: () => void): void {
    this.#numbers += 1;
    this.#events.push({ atMs: this.nowMs + afterMs, number: this.#numbers, run });
  }

  grow(shards: number): void {
    while (this.shards.length < shards) this.shards.push(new Shard(this, this.shards.length));
  }

  restartLender(): void {
    this.lender = this.#newLender();
  }

  /** A call between a shard and shard 0, each of which may have been replaced by then. */
  call<Result>(shard: number, run: () => Promise<Result> | Result): Promise<Result> {
    this.calls += 1;
    return new Promise((resolve, reject) => {
      if (this.isFaulty && this.random() < 0.1)
        this.at(12_000 * this.random(), () => void Promise.resolve(run()).catch(() => {}));
      const isLost = this.isFaulty && (this.shards[shard]?.isCutOff === true || this.random() < 0.1);
      this.at(this.#delay(), async () => {
        if (isLost && this.random() < 0.5) return reject(new Error("lost on its way"));
        try {
          const result = await run();
          this.at(this.#delay(), () =>
            isLost ? reject(new Error("lost on its way back")) : resolve(result),
          );
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  async runFor(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms;
    for (;;) {
      await settled();
      const next = this.#next();
      if (next === undefined || next.atMs > untilMs) break;
      this.#events.splice(this.#events.indexOf(next), 1);
      this.nowMs = Math.max(this.nowMs, next.atMs);
      next.run();
      for (const shard of this.shards) shard.turn();
      const delivering = this.shards.reduce((sum, { running }) => sum + running, 0);
      this.mostDelivering = Math.max(this.mostDelivering, delivering);
    }
    this.nowMs = untilMs;
  }

  #next() {
    let first = this.#events[0];
    for (const event of this.#events) {
      if (
        first === undefined ||
        event.atMs < first.atMs ||
        (event.atMs === first.atMs && event.number < first.number)
      )
        first = event;
    }
    return first;
  }

  #delay(): number {
    return this.isFaulty && this.random() < 0.05 ? 12_000 * this.random() : 1 + 20 * this.random();
  }

  #newLender(): Lender {
    return new Lender({
      now: () => this.nowMs,
      limits: () => this.limits,
      others: () => this.shards.slice(1).map(({ shard }) => shard),
      emptyAsOf: () => 0,
      partOf: (shard, lender) => this.call(shard, () => (this.shards[shard] as Shard).borrower.tell(lender)),
    });
  }
}

class Shard {
  readonly #world: World;
  readonly shard: number;
  borrower: Borrower;
  #epoch = 0;
  waiting = 0;
  running = 0;
  delivered = 0;
  isCutOff = false;
  takesMs: () => number = () => 100;

  constructor(world: World, shard: number) {
    this.#world = world;
    this.shard = shard;
    this.borrower = this.#begin();
  }

  restart(): void {
    this.#epoch += 1;
    this.running = 0;
    this.borrower = this.#begin();
  }

  turn(): void {
    const room = this.borrower.units("deliveries");
    while (this.waiting > 0 && this.running < room) {
      this.waiting -= 1;
      this.running += 1;
      const epoch = this.#epoch;
      this.#world.at(this.takesMs(), () => {
        if (epoch !== this.#epoch) return;
        this.running -= 1;
        this.delivered += 1;
      });
    }
    this.borrower.look();
  }

  #begin(): Borrower {
    const world = this.#world;
    const epoch = this.#epoch;
    return new Borrower({
      shard: () => this.shard,
      now: () => world.nowMs,
      ask: (request: PartRequest): Promise<Part> =>
        this.shard === 0
          ? world.lender.lend(request)
          : world.call(this.shard, () => world.lender.lend(request)),
      after: (callback, ms) => world.at(ms, () => epoch === this.#epoch && callback()),
      need: (kind) =>
        kind === "messages" || world.limits.deliveries === null
          ? null
          : { used: this.running, wanted: this.running + this.waiting },
      changed: () => {},
    });
  }
}

function randomOf(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

const settled = async () => {
  for (let i = 0; i < 12; i++) await Promise.resolve();
};

const actions = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({ kind: fc.constant("work" as const), shard: fc.nat(9), count: fc.nat(6) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constantFrom("restart" as const, "cutOff" as const),
        shard: fc.nat(9),
        count: fc.nat(0),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constantFrom("restartLender" as const, "grow" as const),
        shard: fc.nat(0),
        count: fc.nat(0),
      }),
    },
  ),
  { maxLength: 40 },
);

describe("parts of a queue's deliveries", () => {
  it("are never more than the limit together, and everybody gets one in the end", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer(),
        actions,
        async (shards, limit, seed, steps) => {
          const world = new World(shards, { deliveries: limit, messages: null }, seed);
          for (const shard of world.shards) {
            shard.takesMs = () =>
              world.random() < 0.1 ? HANDLER_WALL_CLOCK_MS_MAX * world.random() : 2_000 * world.random();
          }
          for (const { kind, shard, count } of steps) {
            const at = world.shards[shard % world.shards.length] as Shard;
            if (kind === "work") at.waiting += count;
            else if (kind === "restart" && at.shard > 0) at.restart();
            else if (kind === "cutOff") at.isCutOff = !at.isCutOff;
            else if (kind === "grow") world.grow(world.shards.length + 1);
            else if (kind === "restartLender") {
              (world.shards[0] as Shard).restart();
              world.restartLender();
            }
            for (const each of world.shards) each.turn();
            await world.runFor((world.random() < 0.2 ? 40_000 : 3_000) * world.random());
            expect(world.mostDelivering).toBeLessThanOrEqual(limit);
          }
          world.isFaulty = false;
          for (const shard of world.shards) {
            shard.takesMs = () => 100;
            shard.waiting += 3;
            shard.turn();
          }
          // The longest delivery, and what an earlier lender may have lent.
          await world.runFor(2 * HANDLER_WALL_CLOCK_MS_MAX + 300_000);
          expect(world.mostDelivering).toBeLessThanOrEqual(limit);
          expect(world.shards.map(({ waiting }) => waiting)).toEqual(world.shards.map(() => 0));
        },
      ),
      { numRuns: 150 },
    );
  }, 60_000);

  it("go round where there are fewer than shards, and no shard waits for long", async () => {
    const world = new World(8, { deliveries: 2, messages: null }, 7);
    world.isFaulty = false;
    for (const shard of world.shards) shard.waiting = 1_000;
    for (const shard of world.shards) shard.turn();
    await world.runFor(60_000);
    for (const { delivered } of world.shards) expect(delivered).toBeGreaterThan(85);
    expect(world.mostDelivering).toBe(2);
  });

  it("are lent within seconds though a shard has nothing to do that shard 0 could not ask when it began", async () => {
    const world = new World(4, { deliveries: 20, messages: null }, 7);
    const [, busy, other, idle] = world.shards as [Shard, Shard, Shard, Shard];
    idle.isCutOff = true;
    busy.waiting = other.waiting = 100;
    busy.turn();
    other.turn();
    await world.runFor(12_000);
    world.isFaulty = false;
    await world.runFor(15_000);
    expect([busy.waiting, other.waiting]).toEqual([0, 0]);
  });

  it("are lent within seconds to the shards of a queue that grows while some of them have nothing to do", async () => {
    const world = new World(2, { deliveries: 20, messages: null }, 7);
    world.isFaulty = false;
    const [first, busy] = world.shards as [Shard, Shard];
    first.waiting = busy.waiting = 10;
    first.turn();
    busy.turn();
    await world.runFor(10_000);
    world.grow(4);
    busy.waiting = 100;
    busy.turn();
    await world.runFor(15_000);
    expect(busy.waiting).toBe(0);
    expect(world.mostDelivering).toBeLessThanOrEqual(20);
  });

  it("are all used by one shard that has all the work", async () => {
    const world = new World(8, { deliveries: 20, messages: null }, 7);
    world.isFaulty = false;
    const [, busy] = world.shards as [Shard, Shard];
    for (const shard of world.shards) shard.waiting = 10;
    for (const shard of world.shards) shard.turn();
    await world.runFor(10_000);
    busy.waiting = 1_000;
    busy.turn();
    await world.runFor(6_000);
    expect(world.mostDelivering).toBe(20);
    expect(busy.delivered).toBeGreaterThan(800);
    busy.waiting = 0;
    await world.runFor(30_000);
    world.calls = 0;
    await world.runFor(600_000);
    expect(world.calls).toBe(0);
  });
});
