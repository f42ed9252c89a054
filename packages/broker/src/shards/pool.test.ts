import { expect, it } from "vitest";
import { PART_MS, Pool, TURN_MS, WAIT_MS } from "./pool.ts";

const TAIL_MS = 1_000;

function lender(limit: number) {
  const pool = new Pool(TAIL_MS);
  const numbers = new Map<number, number>();
  const ask = (shard: number, part: number, used: number, wanted: number, nowMs = 0, isComplete = true) => {
    const number = (numbers.get(shard) ?? 0) + 1;
    numbers.set(shard, number);
    return pool.lend({ shard, number, part, used, wanted }, limit, isComplete, nowMs);
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
  expect(ask(2, 0, 0, 100)).toEqual({ units: 0, expiresInMs: TURN_MS });
  expect(ask(1, 10, 10, 100)).toEqual({ units: 5, expiresInMs: TURN_MS });
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
  expect(ask(2, 4, 4, 4, WAIT_MS - 1)?.units).toBe(2);
  expect(ask(2, 2, 2, 4, WAIT_MS)?.units).toBe(4);
});

it("a question that arrives after a later one says nothing", () => {
  const { pool, ask } = lender(4);
  ask(1, 0, 0, 0);
  ask(1, 0, 0, 4);
  const late = { shard: 1, number: 1, part: 0, used: 0, wanted: 0 };
  expect(pool.lend(late, 4, true, 0)).toBeNull();
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
  expect(pool.lend({ shard: 1, number: 8, part: 6, used: 0, wanted: 0 }, 10, true, 0)?.units).toBe(0);
  expect(ask(2, 4, 4, 10)?.units).toBe(4);
  expect(pool.lend({ shard: 1, number: 9, part: 0, used: 0, wanted: 0 }, 10, true, 0)?.units).toBe(0);
  expect(ask(2, 4, 4, 10)?.units).toBe(10);
});

it("a limit that was lowered lends nothing until enough has come back", () => {
  const pool = new Pool(TAIL_MS);
  const ask = (shard: number, number: number, part: number, limit: number) =>
    pool.lend({ shard, number, part, used: part, wanted: 9 }, limit, true, 0)?.units;
  expect(ask(1, 1, 0, 9)).toBe(9);
  expect(ask(2, 1, 0, 4)).toBe(0);
  expect(ask(1, 2, 9, 4)).toBe(2);
  expect(ask(2, 2, 0, 4)).toBe(0);
  expect(ask(1, 3, 2, 4)).toBe(2);
  expect(ask(2, 3, 0, 4)).toBe(2);
});
