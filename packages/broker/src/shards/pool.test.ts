import { expect, it } from "vitest";
import { ASK_AGAIN_MS, ASK_AGAIN_MS_MAX, PART_MS, Pool, TURN_MS, WAIT_MS } from "./pool.ts";

const TAIL_MS = 1_000;

const lendable = (limit: number, isComplete = true) => ({
  limit,
  completeAtMs: isComplete ? 0 : Number.POSITIVE_INFINITY,
});

function lender(limit: number, tailMs = TAIL_MS) {
  const pool = new Pool(tailMs);
  const numbers = new Map<number, number>();
  const ask = (shard: number, part: number, used: number, wanted: number, nowMs = 0, isComplete = true) => {
    const number = (numbers.get(shard) ?? 0) + 1;
    numbers.set(shard, number);
    return pool.lend({ shard, number, part, used, wanted }, lendable(limit, isComplete), nowMs);
  };
  return { pool, ask };
}

it("a shard gets all that it wants while there is enough", () => {
  const { ask } = lender(10);
  expect(ask(1, 0, 0, 7)).toEqual({ units: 7, expiresInMs: PART_MS });
  expect(ask(2, 0, 0, 3)).toEqual({ units: 3, expiresInMs: PART_MS });
});

it("a shard that comes later gets what is free, and its share when the other asks again", () => {
  const { ask } = lender(10);
  ask(1, 0, 0, 100);
  expect(ask(2, 0, 0, 100)).toEqual({ units: 0, expiresInMs: TURN_MS, askInMs: ASK_AGAIN_MS });
  expect(ask(1, 10, 10, 100)).toEqual({ units: 5, expiresInMs: TURN_MS, askInMs: ASK_AGAIN_MS });
  // Ten may be running until the first says that it is five.
  expect(ask(2, 0, 0, 100)?.units).toBe(0);
  ask(1, 5, 5, 100);
  expect(ask(2, 0, 0, 100)?.units).toBe(5);
});

it("who waits gets the only unit when the turn of another is over", () => {
  const { ask } = lender(1);
  expect(ask(1, 0, 0, 9, 0)?.units).toBe(1);
  expect(ask(2, 0, 0, 9, 10)?.units).toBe(0);
  expect(ask(3, 0, 0, 9, 20)?.units).toBe(0);
  expect(ask(1, 1, 1, 9, 1_000)?.units).toBe(0);
  expect(ask(3, 0, 0, 9, 1_010)?.units).toBe(0);
  expect(ask(1, 0, 0, 9, 1_020)?.units).toBe(0);
  expect(ask(3, 0, 0, 9, 1_030)?.units).toBe(0);
  expect(ask(2, 0, 0, 9, 1_040)?.units).toBe(1);
});

it("the units of a part that has expired count until what was begun with them must have ended", () => {
  const { ask } = lender(4);
  ask(1, 0, 0, 4, 0);
  expect(ask(2, 0, 0, 4, PART_MS + TAIL_MS - 1)?.units).toBe(0);
  expect(ask(2, 0, 0, 4, PART_MS + TAIL_MS)?.units).toBe(4);
});

it("a wish that is not repeated takes nothing from others", () => {
  const { ask } = lender(4);
  ask(1, 0, 0, 0, 0);
  ask(2, 0, 0, 4, 0);
  ask(3, 0, 0, 4, 0);
  expect(ask(2, 4, 4, 4, ASK_AGAIN_MS + WAIT_MS - 1)?.units).toBe(2);
  expect(ask(2, 2, 2, 4, ASK_AGAIN_MS + WAIT_MS)?.units).toBe(4);
});

it("a question that arrives after a later one says nothing", () => {
  const { pool, ask } = lender(4);
  ask(1, 0, 0, 0);
  ask(1, 0, 0, 4);
  const late = { shard: 1, number: 1, part: 0, used: 0, wanted: 0 };
  expect(pool.lend(late, lendable(4), 0)).toBeNull();
  expect(ask(2, 0, 0, 4)?.units).toBe(0);
});

it("nobody gets more than they have before all parts are known", () => {
  const { ask } = lender(10);
  expect(ask(1, 3, 1, 9, 0, false)?.units).toBe(3);
  expect(ask(2, 0, 0, 9, 0, false)?.units).toBe(0);
  expect(ask(1, 3, 3, 9, 0, true)?.units).toBe(5);
});

it("what is learned counts until its shard asks", () => {
  const { pool, ask } = lender(10);
  pool.learn({ shard: 1, number: 7, part: 6, used: 2, wanted: 6 }, 0);
  expect(ask(2, 0, 0, 10)?.units).toBe(4);
  expect(pool.lend({ shard: 1, number: 8, part: 6, used: 0, wanted: 0 }, lendable(10), 0)?.units).toBe(0);
  expect(ask(2, 4, 4, 10)?.units).toBe(4);
  expect(pool.lend({ shard: 1, number: 9, part: 0, used: 0, wanted: 0 }, lendable(10), 0)?.units).toBe(0);
  expect(ask(2, 4, 4, 10)?.units).toBe(10);
});

it("a limit that was lowered lends nothing until enough has come back", () => {
  const pool = new Pool(TAIL_MS);
  const ask = (shard: number, number: number, part: number, limit: number) =>
    pool.lend({ shard, number, part, used: part, wanted: 9 }, lendable(limit), 0)?.units;
  expect(ask(1, 1, 0, 9)).toBe(9);
  expect(ask(2, 1, 0, 4)).toBe(0);
  expect(ask(1, 2, 9, 4)).toBe(2);
  expect(ask(2, 2, 0, 4)).toBe(0);
  expect(ask(1, 3, 2, 4)).toBe(2);
  expect(ask(2, 3, 0, 4)).toBe(2);
});

it("who waits asks as long after each question as it has waited, and eight seconds at most", () => {
  const { ask } = lender(1, 1_000_000);
  ask(1, 0, 0, 1, 0);
  const moments = [0, 500, 1_000, 1_001, 2_000, 7_999, 8_000, 8_001, 16_000];
  const waits = moments.map((nowMs) => {
    ask(1, 1, 1, 1, nowMs);
    return ask(2, 0, 0, 1, nowMs)?.askInMs;
  });
  expect(waits).toEqual([500, 500, 1_000, 1_001, 2_000, 7_999, 8_000, ASK_AGAIN_MS_MAX, ASK_AGAIN_MS_MAX]);
});

it("who waits asks when a part has ended, or all of them are known", () => {
  const { pool, ask } = lender(1);
  ask(1, 0, 0, 1, 0);
  ask(2, 0, 0, 1, 0);
  const endMs = PART_MS + TAIL_MS;
  expect(ask(2, 0, 0, 1, endMs - 2_000)?.askInMs).toBe(2_000);
  expect(ask(2, 0, 0, 1, endMs - 100)?.askInMs).toBe(ASK_AGAIN_MS);
  const unknown = { limit: 1, completeAtMs: 3_000 };
  const other = new Pool(TAIL_MS);
  const need = { shard: 1, part: 0, used: 0, wanted: 1 };
  expect(other.lend({ ...need, number: 1 }, unknown, 0)?.units).toBe(0);
  expect(other.lend({ ...need, number: 2 }, unknown, 2_000)?.askInMs).toBe(1_000);
  expect(other.served(unknown, 2_999)).toEqual([]);
  expect(other.served(unknown, 3_000)).toEqual([1]);
  expect(pool.served(unknown, 2_999)).toEqual([]);
});

it("those are served who have waited longest, as far as there is any", () => {
  const { pool, ask } = lender(2);
  ask(1, 0, 0, 2, 0);
  for (const shard of [2, 3, 4]) ask(shard, 0, 0, 1, 10 * shard);
  expect(pool.served(lendable(2), 50)).toEqual([]);
  ask(1, 0, 1, 1, 60);
  expect(pool.served(lendable(2), 60)).toEqual([2]);
  ask(1, 0, 0, 0, 70);
  expect(pool.served(lendable(2), 70)).toEqual([2, 3]);
  pool.wantsNone(2);
  expect(pool.served(lendable(2), 70)).toEqual([3, 4]);
});
