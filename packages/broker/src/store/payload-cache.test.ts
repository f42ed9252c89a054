import { PackedIndex } from "@sluice/protocol";
import { expect, it } from "vitest";
import { packTexts } from "../../test/messages.ts";
import { PayloadCache } from "./payload-cache.ts";

/** A payload of exactly 100 bytes. */
const payload = () => new PackedIndex(packTexts(["x".repeat(60)]));

/** A cache for so many bytes of payloads that were used, and of others. */
const cacheOf = (used: number, fresh: number, waiting = 0) => new PayloadCache({ used, fresh, waiting });

/** Ids of 1 to 9 that the cache still has. */
function kept(cache: PayloadCache): number[] {
  return [1, 2, 3, 4, 5, 6, 7, 8, 9].filter((id) => cache.written(id) !== undefined);
}

it("the payload cache answers with what was put in, until it is deleted", () => {
  const cache = new PayloadCache();
  const mine = payload();
  for (const put of ["set", "use"] as const) {
    cache[put](1, mine);
    expect(cache.written(1)).toBe(mine);
    for (let i = 0; i < 2; i++) expect(cache.get(1)).toBe(mine);
    cache.delete(1);
    cache.delete(1);
    expect(cache.get(1)).toBeUndefined();
    expect(cache.written(1)).toBeUndefined();
  }
});

it("the payload cache holds more than its maximum until it is trimmed: what is not written yet must not get lost", () => {
  const cache = cacheOf(100, 100);
  for (const id of [1, 2, 3, 4]) cache.set(id, payload());
  for (const id of [5, 6, 7]) cache.use(id, payload());
  expect(kept(cache)).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

it.each([
  [299, [2, 3]],
  [300, [1, 2, 3]],
  [301, [1, 2, 3]],
])("a payload cache of at most %i bytes keeps of 300 bytes %j, used or not", (bytesMax, ids) => {
  const unused = cacheOf(0, bytesMax);
  const used = cacheOf(bytesMax, 0);
  for (const id of [1, 2, 3]) {
    unused.set(id, payload());
    used.use(id, payload());
  }
  for (const cache of [unused, used]) {
    cache.trim();
    expect(kept(cache)).toEqual(ids);
  }
});

it("the payload cache lets the least recently used leave first, and takes no writing for a use", () => {
  const cache = cacheOf(200, 0);
  for (const id of [1, 2, 3]) cache.use(id, payload());
  cache.get(1);
  cache.written(2);
  cache.trim();
  expect(kept(cache)).toEqual([1, 3]);
});

it("the payload cache lets what was used last leave, too, where there is room for nothing", () => {
  const cache = cacheOf(99, 0);
  cache.use(1, payload());
  cache.trim();
  expect(cache.get(1)).toBeUndefined();
});

it("the payload cache keeps payloads that were used from those that no consumer has asked for", () => {
  const cache = cacheOf(100, 200);
  for (const id of [1, 2, 3]) cache.set(id, payload());
  cache.get(1);
  for (const id of [4, 5]) cache.set(id, payload());
  cache.trim();
  expect(kept(cache)).toEqual([1, 4, 5]);
});

it("the payload cache keeps the first payloads that no consumer has asked for, and the last", () => {
  const cache = cacheOf(0, 100, 200);
  for (const id of [1, 2, 3, 4, 5]) {
    cache.set(id, payload());
    cache.trim();
  }
  expect(kept(cache)).toEqual([1, 2, 5]);
  // There is room again for what comes next.
  cache.delete(1);
  cache.set(6, payload());
  cache.trim();
  expect(kept(cache)).toEqual([2, 5, 6]);
});

it("the payload cache takes a payload that waits for used when it is", () => {
  const cache = cacheOf(100, 0, 200);
  for (const id of [1, 2]) cache.set(id, payload());
  cache.trim();
  for (const id of [1, 2]) cache.get(id);
  cache.trim();
  expect(kept(cache)).toEqual([2]);
});

it("the payload cache counts a payload that replaces another once, and as the latest that no consumer has asked for", () => {
  const cache = cacheOf(0, 200);
  for (const id of [1, 2, 1, 3]) cache.set(id, payload());
  cache.trim();
  expect(kept(cache)).toEqual([1, 3]);
  const replaced = payload();
  cache.get(1);
  cache.set(1, replaced);
  expect(cache.get(1)).toBe(replaced);
});

it("the payload cache counts down what is deleted", () => {
  const cache = cacheOf(200, 200);
  for (const id of [1, 2, 3]) cache.set(id, payload());
  for (const id of [4, 5, 6]) cache.use(id, payload());
  cache.delete(2);
  cache.delete(5);
  cache.trim();
  expect(kept(cache)).toEqual([1, 3, 4, 6]);
});
