import { mapInError, type ShardMap, shardName } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { definition } from "../../test/messages.ts";
import { callerMapOf, refuseDraining, refuseOtherMap, takesWithoutMap } from "./called-by-map.ts";

const MAP: ShardMap = { epoch: 20, open: 2, kept: 4 };
const record = (shards?: ShardMap, emptyAsOf = 0, changes = {}) => ({
  emptyAsOf,
  definition: definition(changes),
  ...(shards === undefined ? {} : { shards }),
});

/** Map in the refusal of a call; `null` for a call that is taken. */
function refusal(call: () => void): ShardMap | null {
  try {
    call();
    return null;
  } catch (error) {
    return mapInError(error);
  }
}

const other = (shard: number, epoch: number | null, known = record(MAP)) =>
  refusal(() => refuseOtherMap({ object: shardName("orders", shard), epoch, record: known }));

describe("a caller", () => {
  it("with an earlier map than the object's, or none, is refused with the map of the object", () => {
    for (const shard of [0, 1, 3]) {
      expect(other(shard, 19)).toEqual(MAP);
      expect(other(shard, null)).toEqual(MAP);
    }
  });

  it("with the same map or a later one is taken", () => {
    for (const shard of [0, 1, 3]) for (const epoch of [20, 21]) expect(other(shard, epoch)).toBeNull();
  });

  it("without a map is taken by a queue without one, and by shard 0 when there is no other", () => {
    const whole = { epoch: 20, open: 1, kept: 1 };
    expect(other(0, null, record())).toBeNull();
    expect(other(0, null, record(whole))).toBeNull();
    expect(other(1, null, record(whole))).toEqual(whole);
    expect(other(0, 19, record(whole))).toEqual(whole);
    for (const more of [
      { ...whole, kept: 2 },
      { ...whole, before: 2 },
    ])
      expect(other(0, null, record(more))).toEqual(more);
  });

  it("with a map of the queue that had the name before is refused by one without shards", () => {
    expect(other(0, 19, record(undefined, 20))).toEqual({ epoch: 20, open: 1, kept: 1 });
    expect(other(0, 20, record(undefined, 20))).toBeNull();
    expect(other(0, null, record(undefined, 20))).toBeNull();
  });

  it("with a map of another shard that had this one's name is sent to shard 0, which may not know this one", () => {
    const whole = { epoch: 15, open: 1, kept: 1 };
    for (const shard of [1, 3]) {
      expect(other(shard, 14, record(MAP, 15))).toEqual(whole);
      for (const epoch of [15, 16]) expect(other(shard, epoch, record(MAP, 15))).toEqual(MAP);
    }
    expect(other(0, 14, record(MAP, 15))).toEqual(MAP);
  });

  it("is taken where the object does not know what it is: the directory was never reached", () => {
    expect(refusal(() => refuseOtherMap({ object: "orders", epoch: 3, record: null }))).toBeNull();
  });
});

describe("a shard that is draining", () => {
  const draining = (shard: number, epoch: number | null, map = MAP) =>
    refusal(() => refuseDraining({ object: shardName("orders", shard), epoch, record: record(map) }));

  it("takes messages of those alone who know a later map, by which it may be open", () => {
    for (const shard of [0, 1]) expect(draining(shard, 20)).toBeNull();
    for (const shard of [2, 3]) expect(draining(shard, 20)).toEqual(MAP);
    expect(draining(2, 21)).toBeNull();
  });

  it("is offered messages while groups move", () => {
    expect(draining(2, 20, { ...MAP, before: 4 })).toBeNull();
  });
});

it("only shard 0 of a standard queue takes messages from who knows no map", () => {
  const takes = (shard: number, epoch: number | null, changes = {}) =>
    takesWithoutMap({ object: shardName("orders", shard), epoch, record: record(MAP, 0, changes) });
  expect(takes(0, null)).toBe(true);
  expect(takes(1, null)).toBe(false);
  expect(takes(0, 20)).toBe(false);
  expect(takes(0, null, { fifo: {} })).toBe(false);
});

it.each([
  ["FIFO", { fifo: {} }, true, MAP],
  ["FIFO", { fifo: {} }, false, MAP],
  ["standard", {}, false, MAP],
  ["standard", {}, true, null],
])(
  "a call for a %s queue that got its first map before the call's turn is refused with it, or taken",
  (_, changes, isOpenToAll, refused) => {
    let known = record(undefined, 0, changes);
    const { check } = callerMapOf("orders", () => known, isOpenToAll);
    expect(refusal(check)).toBeNull();
    known = record(MAP, 0, changes);
    expect(refusal(check)).toEqual(refused);
  },
);
