import type { Queue } from "@sluice/engine";
import { GROUP_MOVED, ownerOf, type PackedIndex, type RpcFailure, type ShardMap } from "@sluice/protocol";
import type { CallerMap } from "./caller-map.ts";

/** Members of a queue's context that its groups use. */
interface GroupsContext {
  readonly queue: Pick<Queue, "isFifo" | "order">;
  readonly queueName: string;
  readonly shard: number;
  readonly shardMap: ShardMap | undefined;
}

/** Deduplication ids that a queue remembers, by their groups. */
export interface RememberedIds {
  isRemembered(groupId: string, deduplicationId: string): boolean;
  groups(): Iterable<string>;
}

/** Records of a transfer, by the shards that they are for. */
interface PassedOn {
  readonly own: readonly Uint8Array[];
  readonly others: ReadonlyMap<number, readonly Uint8Array[]>;
}

/**
 * Groups of a FIFO queue with shards, as one of its shards sees them (docs/design/shards.md). It costs nothing on other
 * queues.
 */
export class ShardGroups {
  readonly #context: GroupsContext;
  readonly #remembered: RememberedIds;
  /** Groups of messages that the turn has accepted, and not put into the queue yet. */
  readonly #accepted = new Set<string>();

  constructor(context: GroupsContext, remembered: RememberedIds) {
    this.#context = context;
    this.#remembered = remembered;
  }

  /** Refuses transfers while a former owner may still hold a group. Their senders repeat them. */
  refuseWhileMoving(): void {
    if (this.#map?.before === undefined) return;
    throw new Error(
      `queue "${this.#context.queueName}" takes no transfers while groups move to other shards`,
    );
  }

  /**
   * Within a turn: refuses messages of groups that belong to another shard and have run dry here. A caller with a later
   * map than this shard's has chosen by that, so nothing is refused.
   */
  refusal(
    batches: readonly { readonly index: PackedIndex }[],
    callerMap: CallerMap | undefined,
  ): RpcFailure | null {
    const map = this.#map;
    if (map === null || isLater(callerMap?.epoch, map)) return null;
    for (const { index } of batches) {
      for (let i = 0; i < index.count; i++) {
        if (!this.#takes(map, index, i, true)) return MOVED;
      }
    }
    return null;
  }

  /**
   * Within a turn: finds the records of a transfer that belong to other shards; `null` if there are none.
   *
   * @param isNew whether duplicates are dropped.
   * @param epoch map of the shard that passes them on.
   */
  passedOn(
    index: PackedIndex,
    { isNew, epoch }: { isNew: boolean; epoch: number | undefined },
  ): PassedOn | null {
    const map = this.#map;
    if (map === null || isLater(epoch, map)) return null;
    const own: Uint8Array[] = [];
    const others = new Map<number, Uint8Array[]>();
    for (let i = 0; i < index.count; i++) {
      const record = index.records(i, i + 1);
      if (this.#takes(map, index, i, isNew)) {
        own.push(record);
        continue;
      }
      const owner = ownerOf(groupAt(index, i), map.open);
      // A view would keep the whole transfer in memory, and cannot be given to a call.
      others.set(owner, [...(others.get(owner) ?? []), record.slice()]);
    }
    return others.size === 0 ? null : { own, others };
  }

  /** Within a turn: notes messages that are accepted. */
  accepted(index: PackedIndex): void {
    if (this.#map?.before === undefined) return;
    for (let i = 0; i < index.count; i++) this.#accepted.add(groupAt(index, i));
  }

  /** Within a turn: forgets the accepted messages, which are in the queue now. */
  placed(): void {
    this.#accepted.clear();
  }

  /** Whether the shard holds, or has to recognise, messages of groups that the map gives to another one. */
  get keepsForeign(): boolean {
    const map = this.#map;
    if (map === null) return false;
    for (const group of this.#accepted) if (this.#isForeign(map, group)) return true;
    for (const [group, { remaining }] of this.#context.queue.order?.groups ?? [])
      if (remaining > 0 && this.#isForeign(map, group)) return true;
    for (const group of this.#remembered.groups()) if (this.#isForeign(map, group)) return true;
    return false;
  }

  /** Map of a FIFO queue; `null` for other queues, and one that never had shards. */
  get #map(): ShardMap | null {
    const { queue, shardMap = null } = this.#context;
    return queue.isFifo ? shardMap : null;
  }

  /** Whether a message may be stored here, or is recognised as a duplicate. */
  #takes(map: ShardMap, index: PackedIndex, i: number, isNew: boolean): boolean {
    const { groupId = "", deduplicationId } = index.extension(i);
    if (!this.#isForeign(map, groupId)) return true;
    if (map.before === undefined) return false;
    const { queue } = this.#context;
    if (this.#accepted.has(groupId) || (queue.order?.groups.get(groupId)?.remaining ?? 0) > 0) return true;
    if (!isNew || deduplicationId === undefined) return false;
    return this.#remembered.isRemembered(groupId, deduplicationId);
  }

  #isForeign({ open }: ShardMap, group: string): boolean {
    return ownerOf(group, open) !== this.#context.shard;
  }
}

const MOVED: RpcFailure = { ok: false, code: GROUP_MOVED, cause: "The group belongs to another shard." };

function isLater(epoch: number | null | undefined, map: ShardMap): boolean {
  return epoch != null && epoch > map.epoch;
}

function groupAt(index: PackedIndex, i: number): string {
  return index.extension(i).groupId ?? "";
}
