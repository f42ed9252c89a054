import { describe, expect, it } from "vitest";
import { passInterval, type ShardDirectory, withShards } from "../../test/shard-directory.ts";
import { restoreQueue } from "./status.ts";

describe("a directory that has lost its rows", () => {
  const copies = (directory: ShardDirectory) =>
    [...directory.objects.values()].flatMap(({ registration }) => registration.record ?? []);

  /** Begins again with nothing, later. */
  const lose = (directory: ShardDirectory) => {
    directory.forget();
    directory.registry.time.nowMs += 60_000;
    directory.restart();
  };

  it.each([
    ["the queue first", (names: string[]) => names],
    ["the queue last", (names: string[]) => names.toReversed()],
  ])("takes the map back from the copies of the shards, %s", async (_, ordered) => {
    const directory = await withShards(3);
    const map = directory.shown("orders");
    const known = new Map(copies(directory).map((copy) => [copy.name, copy]));
    lose(directory);
    for (const name of ordered([...known.keys()])) {
      const copy = known.get(name);
      if (copy !== undefined) restoreQueue(directory.registry, copy);
    }
    await directory.settle();
    expect(directory.shown("orders")).toEqual(map);
    expect(directory.rows("orders")).toEqual(["orders", "orders#1", "orders#2"]);
  });

  it("makes the row of a shard whose copy is lost too", async () => {
    const directory = await withShards(3);
    const copy = directory.object("orders").registration.record;
    lose(directory);
    if (copy !== null) restoreQueue(directory.registry, copy);
    await directory.settle();
    expect(directory.rows("orders")).toEqual(["orders", "orders#1", "orders#2"]);
  });

  it("tells the shards that it has made again, without waiting for anything else", async () => {
    const directory = await withShards(3);
    const copy = directory.object("orders").registration.record;
    lose(directory);
    directory.changes.opened("orders", copy);
    await expect.poll(() => directory.registry.pending()).toEqual([]);
    expect(directory.rows("orders")).toEqual(["orders", "orders#1", "orders#2"]);
    expect(directory.object("orders#2").registration.record?.queueId).toBe(
      directory.registry.queue("orders#2")?.record.queueId,
    );
  });

  it("goes by the latest map of any copy", async () => {
    const directory = await withShards(2);
    const before = directory.object("orders").registration.record;
    await directory.set("orders", 3);
    await directory.settle();
    const later = directory.object("orders#1").registration.record;
    const map = directory.shown("orders");
    lose(directory);
    if (before !== null) restoreQueue(directory.registry, before);
    if (later !== null) restoreQueue(directory.registry, later);
    // All that the later map has are there before shard 0 gets it.
    expect(directory.registry.queue("orders#2")?.record.shards).toEqual(map);
    await directory.settle();
    // The number that is wanted is that of the queue's own copy.
    expect(directory.rows("orders")).toEqual(["orders", "orders#1"]);
    expect(directory.shown("orders")?.epoch).toBeGreaterThan(map?.epoch ?? 0);
  });
});

describe("a directory that ends at any of its steps", () => {
  const histories: [string, (directory: ShardDirectory) => Promise<void>][] = [
    ["grows", async (directory) => void (await directory.set("orders", 4))],
    [
      "shrinks",
      async (directory) => {
        directory.object("orders#1").messages = 0;
        await directory.set("orders", 1);
        await passInterval(directory);
      },
    ],
    [
      "is deleted and created again",
      async (directory) => {
        await directory.delete("orders");
        await directory.create("orders", { shards: 3 });
      },
    ],
  ];

  it.each(histories)("goes on where it was: a queue %s", async (_, change) => {
    const rehearsal = await withShards(2);
    const begun = rehearsal.transactions;
    await change(rehearsal);
    await rehearsal.settle();
    const steps = rehearsal.transactions - begun;
    expect(steps).toBeGreaterThan(2);
    for (let step = 0; step < steps; step++) {
      const directory = await withShards(2);
      for (const shard of [0, 1]) directory.send("orders", shard, directory.learn("orders"));
      const queueId = directory.registry.queue("orders")?.record.queueId;
      directory.crashAfter = step;
      await change(directory);
      await directory.settle();
      if (directory.hasEnded) directory.restart();
      await directory.settle();
      await change(directory);
      await passInterval(directory);
      expect(directory.rows("orders"), `step ${step}`).toEqual(rehearsal.rows("orders"));
      expect(directory.problems, `step ${step}`).toEqual([]);
      const { open, kept } = rehearsal.shown("orders") ?? {};
      expect(directory.shown("orders"), `step ${step}`).toMatchObject({ open, kept });
      if (directory.registry.queue("orders")?.record.queueId === queueId)
        expect(directory.counted("orders"), `step ${step}`).toBe(directory.taken);
    }
  });
});
