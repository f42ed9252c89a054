import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownerOf, readShardMap, shardAddress, shardMapText, shardName } from "@sluice/protocol";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  heldBy,
  openShardObjects,
  packText,
  type ShardObjects,
  type StoredShards,
} from "./stored/shards/objects.ts";

const STORED = join(import.meta.dirname, "stored/shards");
const NAMES = readdirSync(STORED).flatMap((file) => /^(.*)\.tar\.gz$/.exec(file)?.[1] ?? []);

/** Data folders with queues of several objects, which every later release must open with all of their contents. */
describe.each(NAMES)("queues with shards of the shape %s", (name) => {
  const shape: StoredShards = JSON.parse(readFileSync(join(STORED, `${name}.json`), "utf8"));
  let folder: string;
  let objects: ShardObjects;

  beforeEach(() => {
    // Its messages have not expired at that time.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse(shape.at) + 1_000 });
    folder = mkdtempSync(join(tmpdir(), "sluice-stored-"));
    execFileSync("tar", ["-xzf", join(STORED, `${name}.tar.gz`), "-C", folder]);
    objects = openShardObjects(join(folder, "do"));
  });
  afterEach(() => {
    objects.close();
    rmSync(folder, { recursive: true, force: true });
    vi.useRealTimers();
  });

  const mapOf = (queue: string) => {
    const map = readShardMap(shape.maps[queue] ?? "");
    if (map === null) throw new Error(`there is no map of ${queue}`);
    return map;
  };

  it("open with their maps and every message where it was", async () => {
    for (const [queue, text] of Object.entries(shape.maps)) {
      const map = mapOf(queue);
      expect(shardMapText((await objects.directory.findByName(queue))?.shards ?? map)).toBe(text);
      for (let shard = 0; shard < map.kept; shard++)
        expect(await heldBy(objects, queue, shard, map.epoch)).toEqual(shape.held[shardName(queue, shard)]);
    }
  });

  it("take messages in by the map that they had", async () => {
    const wide = mapOf("wide");
    const send = (shard: number) =>
      objects
        .queue(shardName("wide", shard))
        .send(shardAddress("wide", shard, wide.epoch), [{ packed: packText("new") }]);
    expect(await send(1)).toMatchObject({ ok: true });
    await expect(send(3)).rejects.toThrow(shape.maps.wide);
  });

  it("go on with groups where they are", async () => {
    const line = mapOf("line.fifo");
    const groups = Object.values(shape.held).flatMap((bodies) =>
      bodies.map((body) => body.split(" ")[0] ?? ""),
    );
    const moved =
      groups.find((group) => group.startsWith("customer-") && ownerOf(group, line.open) === 2) ?? "";
    expect(moved).not.toBe("");
    const former = ownerOf(moved, line.before ?? 0);
    const address = shardAddress("line.fifo", former, line.epoch);
    const enqueue = { packed: packText(`${moved} 3`, moved) };
    const { enqueued } = (await objects.queue(shardName("line.fifo", former)).work(address, { enqueue })) as {
      readonly enqueued?: { readonly ok: unknown };
    };
    expect(enqueued).toMatchObject({ ok: true });
  });
});
