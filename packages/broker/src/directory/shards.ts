import {
  canonicalJson,
  type DirectoryRefusal,
  type QueueDefinition,
  type QueueRecord,
  type QueueUsage,
  SHARDS_MAX,
  type ShardMap,
  type ShardState,
  shardName,
  shardOf,
  sumOfUsage,
} from "@sluice/protocol";
import { newRecord } from "./records.ts";
import type { Registry } from "./registry.ts";
import { type DeletedRow, isNotified, type QueueRow } from "./row.ts";

/** Map of a queue that never had more than one shard. */
const WHOLE: ShardMap = { epoch: 0, open: 1, kept: 1 };

/** Shards of a queue to ask for their states. */
export interface ShardQuestion {
  readonly record: QueueRecord;
  readonly map: ShardMap;
  /** Shard 0 is the first, and answers before the others are asked. */
  readonly shards: readonly number[];
}

/** Within a transaction: stores the row of a queue, and brings its shards up to date. */
export function putQueue(registry: Registry, row: QueueRow): void {
  registry.put(row);
  stepShards(registry, row.record.name);
}

/** Whether a queue has, had or is to have more than one shard. */
export function hasShards(registry: Registry, { name, definition, shards }: QueueRecord): boolean {
  return shards !== undefined || (definition.shards ?? 1) > 1 || registry.shards(name).length > 0;
}

/** Returns why a queue cannot have its number of shards; `null` if it can. */
export function shardsRefusal({ shards = 1, fifo, consumer }: QueueDefinition): DirectoryRefusal | null {
  if (shards === 1) return null;
  if (fifo !== undefined && fifo.deduplicationScope !== "messageGroup")
    return { kind: "shardsRefused", reason: "deduplicationScope" };
  const isDaemon = consumer?.type === "http_push" && consumer.settings.format === "sqsd";
  return isDaemon ? { kind: "shardsRefused", reason: "workerDaemon" } : null;
}

/**
 * Within a transaction: takes the next step towards the number of shards that a queue is to have, if the objects have
 * confirmed the step before. It decides by the stored rows alone, so it can be called at any time, and a crash between
 * two steps loses nothing.
 */
export function stepShards(registry: Registry, queue: string): void {
  const row = registry.row(queue);
  const shards = registry.shards(queue);
  if (row?.kind === "deleted") eraseShards(registry, shards, ({ revision }) => revision < row.revision);
  // A shard may be restored before its queue.
  if (row?.kind !== "queue") return;
  const map = row.record.shards ?? WHOLE;
  const next = pendingMap(map, shards) ?? wantedMap(registry, row);
  const arePut = putShards(registry, row, next);
  if (next !== null) {
    const added = newShards(map, next);
    if (arePut && added.every((shard) => isReady(registry, shardName(queue, shard), next)))
      putMap(registry, row, next);
  } else if (row.shownShards === undefined) {
    eraseShards(registry, shards, ({ name }) => shardOf(name).shard >= map.kept);
  }
}

/** Lists the questions to shards whose answers may change the maps of their queues. */
export function shardQuestions(registry: Registry): ShardQuestion[] {
  return [...registry.queues()].flatMap(({ record, shownShards }) => {
    const { name, shards: map } = record;
    if (map === undefined || shownShards !== undefined) return [];
    if (pendingMap(map, registry.shards(name)) !== null) return [];
    if (map.before !== undefined) return [{ record, map, shards: range(0, map.kept) }];
    return map.kept > map.open ? [{ record, map, shards: [0, ...range(map.open, map.kept)] }] : [];
  });
}

/**
 * Within a transaction: applies the answers of shards to the map that they were asked about.
 *
 * @param states by the numbers of the shards; one that did not answer is absent.
 * @returns whether the map changes.
 */
export function shardsAnswered(
  registry: Registry,
  { record, map }: ShardQuestion,
  states: ReadonlyMap<number, ShardState>,
): boolean {
  const { name } = record;
  const question = shardQuestions(registry).find((other) => other.record.name === name);
  const row = registry.queue(name);
  // The answers are about an earlier map.
  if (row === undefined || question?.map.epoch !== map.epoch) return false;
  const has = (shard: number, property: (state: ShardState) => boolean) => {
    const state = states.get(shard);
    return state?.epoch === map.epoch && property(state);
  };
  const { before, open } = map;
  if (before !== undefined) {
    const isMoved = question.shards.every((shard) => has(shard, ({ keepsGroups }) => !keepsGroups));
    if (isMoved) putMap(registry, row, { epoch: registry.nextRevision(), open, kept: map.kept });
    return isMoved;
  }
  // Messages that shard 0 passed on have arrived before the other shards answered that they are empty.
  if (!has(0, ({ passesOn }) => passesOn !== true)) return false;
  let { kept } = map;
  while (kept > open && has(kept - 1, ({ isEmpty }) => isEmpty)) kept -= 1;
  if (kept === map.kept) return false;
  const usage = range(kept, map.kept).flatMap((shard) => states.get(shard)?.usage ?? []);
  putMap(registry, withGoneUsage(row, usage), { epoch: registry.nextRevision(), open, kept });
  return true;
}

/** Adds the usage of removed shards to the queue's `goneUsage`. A shard that is made again counts from 0. */
function withGoneUsage(row: QueueRow, usage: readonly QueueUsage[]): QueueRow {
  if (usage.length === 0) return row;
  const goneUsage = sumOfUsage([
    ...usage,
    ...(row.record.goneUsage === undefined ? [] : [row.record.goneUsage]),
  ]);
  return { ...row, record: { ...row.record, goneUsage } };
}

/** Finds a map of new shards that shard 0 does not have yet. */
function pendingMap(map: ShardMap, shards: readonly QueueRow[]): ShardMap | null {
  let latest = map;
  for (const { record } of shards)
    if (record.shards !== undefined && record.shards.epoch > latest.epoch) latest = record.shards;
  return latest === map ? null : latest;
}

/** Makes the map by which a queue gets the number of shards that is wanted; `null` if it has it, or has to wait. */
function wantedMap(registry: Registry, { record, shownShards }: QueueRow): ShardMap | null {
  const { shards: map = WHOLE, definition } = record;
  const wanted = Math.min(SHARDS_MAX, Math.max(1, definition.shards ?? 1));
  if (wanted === map.open || shownShards !== undefined || map.before !== undefined) return null;
  const next = { epoch: registry.nextRevision(), open: wanted, kept: Math.max(wanted, map.kept) };
  return definition.fifo === undefined ? next : { ...next, before: map.open };
}

/**
 * Puts the rows of shards that are missing, or differ from the row of their queue. Shards in the map of shard 0 get
 * that map when shard 0 has confirmed it.
 *
 * @param next map of new shards.
 * @returns false while another object still holds messages of a deleted shard.
 */
function putShards(registry: Registry, row: QueueRow, next: ShardMap | null): boolean {
  const {
    shards: map = WHOLE,
    name: queue,
    definition,
    consumer,
    jurisdiction,
    place,
    dialects,
    revision: queueRevision,
  } = row.record;
  const added = next === null ? [] : newShards(map, next);
  const isHeld = (shard: number) => {
    const before = registry.row(shardName(queue, shard));
    return before?.kind === "deleted" && !isNotified(before) && before.place !== place;
  };
  if (added.some(isHeld)) return false;
  for (const shard of [...range(1, map.kept), ...added]) {
    const name = shardName(queue, shard);
    const known = registry.queue(name);
    const isNew = shard >= map.kept && next !== null;
    const own = known?.record.shards ?? map;
    const isCurrent = row.shownShards !== undefined || own.epoch > map.epoch;
    const shards = isNew ? next : isCurrent ? own : map;
    const settings = { definition, consumer, jurisdiction, dialects, shards, queueRevision };
    if (known !== undefined && isSame(known.record, settings)) continue;
    const { place: _, ...record } = known?.record ?? newRecord(registry, name, definition);
    registry.put({
      kind: "queue",
      record: {
        ...record,
        ...settings,
        modifiedOnMs: row.record.modifiedOnMs,
        revision: registry.nextRevision(),
        ...(place === undefined ? {} : { place }),
      },
      configured: null,
      told: known?.told ?? 0,
    });
  }
  return true;
}

/** Gives shard 0 a map. All others see the one before until shard 0 has confirmed it. */
function putMap(registry: Registry, row: QueueRow, shards: ShardMap): void {
  const { record, shownShards = record.shards ?? null } = row;
  registry.put({
    ...row,
    record: { ...record, shards, revision: Math.max(shards.epoch, registry.nextRevision()) },
    shownShards,
  });
}

function eraseShards(
  registry: Registry,
  shards: readonly QueueRow[],
  isOver: (record: QueueRecord) => boolean,
): void {
  for (const { record } of shards) if (isOver(record)) registry.put(deletedRow(registry, record));
}

/** Makes the row of a deleted queue, which is pending until its object is empty. */
export function deletedRow(registry: Registry, { name, place }: QueueRecord): DeletedRow {
  const revision = registry.nextRevision();
  return { kind: "deleted", name, revision, ...(place === undefined ? {} : { place }) };
}

/** Whether a shard goes by a map. */
function isReady(registry: Registry, name: string, { epoch }: ShardMap): boolean {
  const row = registry.queue(name);
  return row?.record.shards?.epoch === epoch && isNotified(row);
}

function newShards(map: ShardMap, next: ShardMap): number[] {
  return range(map.kept, next.kept);
}

function isSame(record: QueueRecord, settings: Partial<QueueRecord>): boolean {
  return canonicalJson({ ...record, ...settings }) === canonicalJson(record);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}
