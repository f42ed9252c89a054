import type {
  BacklogMetrics,
  DrainReply,
  FaultSetting,
  FiguresReply,
  FiguresRequest,
  MessageCounts,
  PurgeReply,
  QueueDescription,
} from "@sluice/protocol";
import { oldestOf, sumOf } from "../merge/amounts.ts";
import { mergedDescription, mergedFaults, type ShardDescription } from "../merge/description.ts";
import { mergedFigures } from "../merge/figures.ts";
import { MapChangedError, type Shards } from "./shards.ts";

export async function metrics(shards: Shards): Promise<BacklogMetrics> {
  const parts = await shards.all((shard) => shards.call(shard, "metrics"));
  return {
    backlogCount: sumOf(parts, ({ backlogCount }) => backlogCount),
    backlogBytes: sumOf(parts, ({ backlogBytes }) => backlogBytes),
    oldestMessageTimestampMs: oldestOf(parts),
  };
}

export async function messageCounts(shards: Shards): Promise<MessageCounts> {
  const parts = await shards.all((shard) => shards.call(shard, "messageCounts"));
  return {
    visible: sumOf(parts, ({ visible }) => visible),
    notVisible: sumOf(parts, ({ notVisible }) => notVisible),
    delayed: sumOf(parts, ({ delayed }) => delayed),
  };
}

export async function describe(shards: Shards): Promise<QueueDescription> {
  return mergedDescription(shards.queue, await describeEach(shards), shards.ports.now());
}

/** Describes each shard, or says why it does not answer. */
export function describeEach(shards: Shards): Promise<ShardDescription[]> {
  return shards.all(async (shard) => {
    try {
      const description = await shards.call(shard, "describe");
      const unreadable = description.damage?.find(({ kind }) => kind === "unreadable");
      return unreadable === undefined ? description : { failure: unreadable.text };
    } catch (failure) {
      if (failure instanceof MapChangedError) throw failure;
      return { failure };
    }
  });
}

export async function figures(shards: Shards, request: FiguresRequest): Promise<FiguresReply> {
  const parts = await shards.all((shard) => shards.call(shard, "figures", request));
  return mergedFigures(request.window, parts);
}

/** Purges all shards, those of a later map again. What was deleted before the map has changed is counted too. */
export async function purge(shards: Shards): Promise<PurgeReply> {
  let purged = 0;
  await shards.byLaterMaps(() =>
    shards.all(async (shard) => {
      const part = await shards.call(shard, "purge");
      purged += part.purged;
    }),
  );
  return { purged };
}

export async function drain(shards: Shards): Promise<DrainReply> {
  const parts = await shards.all((shard) => shards.call(shard, "drain"));
  return { requests: sumOf(parts, ({ requests }) => requests) };
}

export async function faults(shards: Shards): Promise<FaultSetting> {
  const parts = await shards.all((shard) => shards.call(shard, "faults"));
  return { seed: parts[0]?.seed ?? 0, faults: mergedFaults(parts.map((part) => part.faults)) };
}

/** Sets the faults of each shard, which makes all of them by itself. */
export async function setFaults(shards: Shards, setting: FaultSetting): Promise<void> {
  await shards.all((shard) => shards.call(shard, "setFaults", setting));
}
