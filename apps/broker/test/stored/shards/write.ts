// Writes the stored shape of queues with shards: a packed data folder, and a description of its contents.
//   node apps/broker/test/stored/shards/write.ts NAME
// Run it when what a release stores of shards differs from the shapes that are here.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ownerOf, type QueueRecord, shardAddress, shardMapText, shardName } from "@sluice/protocol";

const [name] = process.argv.slice(2);
if (name === undefined) throw new Error("a stored shape needs a name: that of the release");

const WORKERS = pathToFileURL(
  join(import.meta.dirname, "../../../../../packages/objects/src/workers.ts"),
).href;
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === "cloudflare:workers" ? WORKERS : specifier, context),
});
const { heldBy, openShardObjects, packText } = await import("./objects.ts");

/** Two weeks, so that nothing expires during the test. */
const messageRetentionSeconds = 1_209_600;

const folder = mkdtempSync(join(tmpdir(), "sluice-stored-"));
const objects = openShardObjects(join(folder, "do"));
const { directory } = objects;

async function mapOf(queue: string, isDone: (map: NonNullable<QueueRecord["shards"]>) => boolean) {
  for (;;) {
    const map = (await directory.findByName(queue))?.shards;
    if (map !== undefined && isDone(map)) return map;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function change(queue: string, shards: number): Promise<void> {
  const record = await directory.findByName(queue);
  await directory.changeQueue(record?.queueId ?? "", { settings: { shards } });
}

// Shards 2 and 3 are draining.
await directory.createQueue({ name: "wide", settings: { messageRetentionSeconds, shards: 4 } });
const four = await mapOf("wide", ({ open }) => open === 4);
for (let shard = 0; shard < 4; shard++) {
  const address = shardAddress("wide", shard, four.epoch);
  await objects.queue(shardName("wide", shard)).send(address, [{ packed: packText(`in ${shard}`) }]);
}
await change("wide", 2);
const wide = await mapOf("wide", ({ open }) => open === 2);

// Groups move from two shards to three. Before that, messages from another queue were passed on to their shards.
const fifo = { deduplicationScope: "messageGroup" } as const;
await directory.createQueue({ name: "line.fifo", settings: { messageRetentionSeconds, fifo, shards: 2 } });
const two = await mapOf("line.fifo", ({ before }) => before === undefined);
const groups = Array.from({ length: 8 }, (_, i) => `customer-${i}`);
for (const group of groups) {
  const shard = ownerOf(group, 2);
  const enqueue = { packed: packText(`${group} 1`, group) };
  await objects
    .queue(shardName("line.fifo", shard))
    .work(shardAddress("line.fifo", shard, two.epoch), { enqueue });
}
for (const [i, group] of groups.entries()) {
  const transfer = { source: "dead.fifo", id: i + 1, packed: packText(`${group} 2`, group), more: [] };
  await objects.queue("line.fifo").take("line.fifo", transfer);
}
if (!groups.some((group) => ownerOf(group, 3) === 2)) throw new Error("no group moves");
const others = groups.filter((group) => ownerOf(group, 2) === 1).length;
while ((await heldBy(objects, "line.fifo", 1, two.epoch)).length < 2 * others)
  await new Promise((resolve) => setTimeout(resolve, 50));
await change("line.fifo", 3);
const line = await mapOf("line.fifo", ({ open }) => open === 3);

const held: Record<string, readonly string[]> = {};
for (const [queue, map] of [
  ["wide", wide],
  ["line.fifo", line],
] as const) {
  for (let shard = 0; shard < map.kept; shard++)
    held[shardName(queue, shard)] = await heldBy(objects, queue, shard, map.epoch);
}
const maps = { wide: shardMapText(wide), "line.fifo": shardMapText(line) };
objects.close();
const here = import.meta.dirname;
execFileSync("tar", ["-czf", join(here, `${name}.tar.gz`), "-C", folder, "do"]);
const at = new Date().toISOString();
writeFileSync(join(here, `${name}.json`), `${JSON.stringify({ at, maps, held }, null, 2)}\n`);
rmSync(folder, { recursive: true, force: true });
console.log(`${name}: written`);
process.exit(0);
