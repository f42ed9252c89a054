import { PackedIndex } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { packTexts } from "../test/messages.ts";
import { PayloadCache } from "./payload-cache.ts";

/** A payload of exactly 100 bytes. */
const payload = () => new PackedIndex(packTexts(["x".repeat(60)]));

/** Ids of 1 to 9 that the cache still has. Asks for none of them: asking makes a payload the latest used one. */
function kept(cache: PayloadCache): number[] {
  return [9, 8, 7, 6, 5, 4, 3, 2, 1].filter((id) => cache.get(id) !== undefined).reverse();
}

describe("the payload cache", () => {
  it("answers with what was put in, until it is deleted", () => {
    const cache = new PayloadCache();
    const mine = payload();
    cache.set(1, mine);
    expect(cache.get(1)).toBe(mine);
    cache.delete(1);
    cache.delete(1);
    expect(cache.get(1)).toBeUndefined();
  });

  it("holds more than its maximum until it is trimmed: what is not written yet must not get lost", () => {
    const cache = new PayloadCache(200);
    for (const id of [1, 2, 3, 4]) cache.set(id, payload());
    expect(kept(cache)).toEqual([1, 2, 3, 4]);
  });

  it.each([
    [299, [2, 3]],
    [300, [1, 2, 3]],
    [301, [1, 2, 3]],
  ])("of 300 bytes and at most %i keeps %j", (bytesMax, ids) => {
    const cache = new PayloadCache(bytesMax);
    for (const id of [1, 2, 3]) cache.set(id, payload());
    cache.trim();
    expect(kept(cache)).toEqual(ids);
  });

  it("lets the least recently used leave first", () => {
    const cache = new PayloadCache(200);
    for (const id of [1, 2, 3]) cache.set(id, payload());
    cache.get(1);
    cache.trim();
    expect(kept(cache)).toEqual([1, 3]);
  });

  it("counts a payload that replaces another once, and as the latest", () => {
    const cache = new PayloadCache(200);
    for (const id of [1, 2, 1, 3]) cache.set(id, payload());
    cache.trim();
    expect(kept(cache)).toEqual([1, 3]);
  });

  it("counts down what is deleted", () => {
    const cache = new PayloadCache(200);
    for (const id of [1, 2, 3]) cache.set(id, payload());
    cache.delete(2);
    cache.trim();
    expect(kept(cache)).toEqual([1, 3]);
  });
});
