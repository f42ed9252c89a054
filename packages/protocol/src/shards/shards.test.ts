import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  isShard,
  mapInError,
  ownerOf,
  readShardAddress,
  readShardMap,
  SHARDS_MAX,
  type ShardMap,
  ShardMapError,
  shardAddress,
  shardMapText,
  shardName,
  shardOf,
  TOKEN_LENGTH,
  tokenOfQueue,
  tokenOfShard,
} from "./index.ts";

const shards = fc.integer({ min: 1, max: SHARDS_MAX });
const maps: fc.Arbitrary<ShardMap> = fc
  .record({ epoch: fc.nat(4e13), a: shards, b: shards, before: fc.option(shards, { nil: undefined }) })
  .map(({ epoch, a, b, before }) => ({
    epoch,
    open: Math.min(a, b),
    kept: Math.max(a, b),
    ...(before === undefined ? {} : { before }),
  }));

describe("a map", () => {
  it("is read from its text, and from the error of a call", () => {
    fc.assert(
      fc.property(maps, (map) => {
        expect(readShardMap(shardMapText(map))).toEqual(map);
        const crossed = new Error(`Error: ${new ShardMapError("orders", map).message}\n    at somewhere`);
        expect(mapInError(crossed)).toEqual(map);
      }),
    );
  });

  it.each(["", "1 2", "1 0 1", "1 1 0", "1 2 1", "1 101 101", "1 1 1 0", "1 1 1 101", "x 1 1", "1 1 1 1 1"])(
    "is not read from %j",
    (text) => expect(readShardMap(text)).toBeNull(),
  );

  it("is in no other error", () => expect(mapInError(new Error("queue is away"))).toBeNull());
});

describe("names", () => {
  it("of shards are found again, and that of the first is the queue's", () => {
    for (let shard = 0; shard < SHARDS_MAX; shard++) {
      const object = shardName("orders.fifo", shard);
      expect(shardOf(object)).toEqual({ queue: "orders.fifo", shard });
      expect(isShard(object)).toBe(shard > 0);
      expect(readShardAddress(shardAddress("orders.fifo", shard, 17))).toEqual({ object, epoch: 17 });
    }
    expect(shardName("orders", 0)).toBe("orders");
    expect(readShardAddress("orders")).toEqual({ object: "orders", epoch: null });
  });

  it("of tokens carry the shard, and those of shard 0 are as before", () => {
    const token = "AT_-".repeat(9).slice(0, TOKEN_LENGTH);
    for (let shard = 0; shard < SHARDS_MAX; shard++) {
      for (const text of [token, `${token}0m5x1q2zz`])
        expect(tokenOfShard(tokenOfQueue(text, shard))).toEqual({ token: text, shard });
    }
    expect(tokenOfQueue(token, 0)).toBe(token);
    for (const text of ["", "-3", `${token}-0`, `${token}-100`, `${token}-3x`, `${token}3`])
      expect(tokenOfShard(text)).toEqual({ token: text, shard: 0 });
  });
});

describe("owners", () => {
  it("of groups move to the new shard only", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        fc.integer({ min: 1, max: SHARDS_MAX - 1 }),
        (group, open) => {
          const before = ownerOf(group, open);
          expect(before).toBeLessThan(open);
          expect([before, open]).toContain(ownerOf(group, open + 1));
        },
      ),
    );
  });

  it("have equal parts", () => {
    const counts = Array<number>(8).fill(0);
    for (let group = 0; group < 8_000; group++) {
      const owner = ownerOf(`customer-${group}`, counts.length);
      counts[owner] = (counts[owner] ?? 0) + 1;
    }
    for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(120);
  });

  it("are the same in every version", () => {
    expect(["", "a", "customer-1", "ü", "群"].map((group) => ownerOf(group, 100))).toMatchInlineSnapshot(`
      [
        45,
        93,
        15,
        19,
        52,
      ]
    `);
  });
});
