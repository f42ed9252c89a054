import type { ShardState } from "@sluice/protocol";
import type { QueueCore } from "./queue-core.ts";

/** Reports whether a shard still has messages or work, as of a turn. */
export function shardStateOf(core: QueueCore): Promise<ShardState> {
  return core.submit(() => {
    const { queue, outbox, dispatcher, moves, intake, groups } = core;
    const held = queue.readyCount + queue.delayedCount + queue.leasedCount;
    const { shardMap } = core;
    const isMoving = moves.list().some(({ status }) => status === "running");
    return {
      epoch: shardMap?.epoch ?? null,
      isEmpty: held === 0 && intake.isIdle && outbox.isEmpty && !dispatcher.busy && !isMoving,
      keepsGroups: groups.keepsForeign || outbox.passesOnTo(0),
      ...(outbox.passesOnTo(shardMap?.open ?? 0) ? { passesOn: true } : {}),
    };
  });
}
