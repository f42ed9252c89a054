import { isWhole, type QueueRecord, readShardAddress, ShardMapError, shardOf } from "@sluice/protocol";
import type { CallerMap } from "./caller-map.ts";

/** How an object is called. */
export interface CalledObject {
  /** Name of the object: the queue's, with the number of the shard. */
  readonly object: string;
  /** Epoch of the map that the caller goes by; `null` for none. */
  readonly epoch: number | null;
  /** Record that the object goes by; `null` for none. */
  readonly record: Pick<QueueRecord, "shards" | "emptyAsOf" | "definition"> | null;
}

/**
 * Refuses a caller that goes by an earlier map than the object, or by none although there is one. A caller with a later
 * map has it from shard 0.
 *
 * @throws ShardMapError
 */
export function refuseOtherMap({ object, epoch, record }: CalledObject): void {
  if (record === null) return;
  const { queue, shard } = shardOf(object);
  const { shards: map, emptyAsOf } = record;
  // Its map is of an earlier queue or shard of this name. The map of the present one may not have reached shard 0 yet.
  if (epoch !== null && epoch < emptyAsOf && (map === undefined || shard > 0))
    throw new ShardMapError(queue, { epoch: emptyAsOf, open: 1, kept: 1 });
  if (map === undefined) return;
  if (epoch === null ? shard > 0 || !isWhole(map) : epoch < map.epoch) throw new ShardMapError(queue, map);
}

/** Refuses new messages on a shard that is draining by the caller's own map. @throws ShardMapError */
export function refuseDraining({ object, epoch, record }: CalledObject): void {
  const { queue, shard } = shardOf(object);
  const map = record?.shards;
  // A former owner of groups is offered their messages while they move.
  if (map === undefined || map.epoch !== epoch || map.before !== undefined) return;
  if (shard >= map.open) throw new ShardMapError(queue, map);
}

/** Whether an object takes messages of a producer without a map: one of an earlier version has none. */
export function takesWithoutMap({ object, epoch, record }: CalledObject): boolean {
  return epoch === null && shardOf(object).shard === 0 && record?.definition.fifo === undefined;
}

/**
 * Makes the caller's map for a call that brings messages. It is checked when the call comes and again in its turn: the
 * object may have got another map by then, or its first one.
 *
 * @param isOpenToAll whether shard 0 of a standard queue takes messages of a caller without a map.
 */
export function callerMapOf(
  address: string,
  record: () => CalledObject["record"],
  isOpenToAll: boolean,
): CallerMap {
  const { object, epoch } = readShardAddress(address);
  const check = () => {
    const called: CalledObject = { object, epoch, record: record() };
    if (!isOpenToAll || !takesWithoutMap(called)) refuseOtherMap(called);
    refuseDraining(called);
  };
  return { epoch, check };
}
