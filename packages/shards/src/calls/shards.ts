import {
  isQueueNotFound,
  mapInError,
  noteFailedShard,
  QUEUE_ERROR_CODES,
  type QueueObjects,
  type ShardMap,
  shardAddress,
  shardName,
} from "@sluice/protocol";
import type { KnownQueues } from "./known-queues.ts";
import type { Answer, Arguments, Method, QueueRpc } from "./queue-rpc.ts";

/** Changes of a queue's map that one call follows. */
export const MAP_CHANGES_MAX = 10;

/** Map of a queue without shards. Its object is called without an epoch. */
const WHOLE: ShardMap = { epoch: 0, open: 1, kept: 1 };

/** Error of a call by a map of the queue that has changed: the shard that refused it has done nothing. */
export class MapChangedError extends Error {
  override readonly name = "MapChangedError";
}

/** Receive that waits at shards. */
export interface Wait {
  isCancelled: boolean;
}

/** State and dependencies that all calls of an isolate share. */
export interface ShardPorts {
  readonly objects: QueueObjects<QueueRpc>;
  readonly known: KnownQueues;
  /** Receives that wait, by their receiver ids. */
  readonly waits: Map<string, Wait>;
  /** Clock in ms. */
  now(): number;
}

/** Shards of a queue for one call of the queue, which goes by one map until a shard says that there is a later one. */
export class Shards {
  readonly queue: string;
  readonly ports: ShardPorts;
  #map: ShardMap;
  #changes = 0;
  /** Stubs: calls of one stub arrive in their order. */
  readonly #objects: QueueRpc[] = [];

  constructor(queue: string, ports: ShardPorts) {
    this.queue = queue;
    this.ports = ports;
    this.#map = ports.known.get(queue)?.map ?? WHOLE;
  }

  get map(): ShardMap {
    return this.#map;
  }

  /** Shards that may hold messages. */
  get kept(): number[] {
    return Array.from({ length: this.#map.kept }, (_, shard) => shard);
  }

  /**
   * Calls a method of one shard. Throws `MapChangedError` where the map has changed, after which `map` is the later
   * one, and what the object throws.
   */
  async call<Of extends Method>(shard: number, method: Of, ...rest: Arguments<Of>): Promise<Answer<Of>> {
    const { epoch } = this.#map;
    const isByMap = epoch !== WHOLE.epoch;
    const name = shardName(this.queue, shard);
    const address = isByMap ? shardAddress(this.queue, shard, epoch) : name;
    try {
      this.#objects[shard] ??= this.ports.objects.of(this.queue, name);
      const object = this.#objects[shard] as unknown as Record<Of, (...args: unknown[]) => unknown>;
      const answer = (await object[method](address, ...rest)) as Answer<Of>;
      // The shard may be gone: only the answer of shard 0 tells whether the queue exists.
      if (isNotFound(answer) && isByMap) await this.refresh(epoch);
      return answer;
    } catch (error) {
      const map = mapInError(error);
      // A map is one that shard 0 has stored, unless another shard answers a call without a map with it: such a call is
      // left over from an earlier map.
      if (map !== null && (shard === 0 || isByMap)) this.#follow(map, epoch);
      else if (isQueueNotFound(error) && isByMap) await this.refresh(epoch);
      throw noteFailedShard(error, shard);
    }
  }

  /**
   * Asks shard 0 for its map. Throws `MapChangedError` where that is not the one of `epoch`, and what shard 0
   * throws. Forgets the map of a queue that does not exist any more.
   */
  async refresh(epoch = this.#map.epoch): Promise<void> {
    try {
      await this.ports.objects.of(this.queue).metrics(this.queue);
    } catch (error) {
      const map = mapInError(error);
      if (map !== null) return this.#follow(map, epoch);
      if (isQueueNotFound(error)) this.ports.known.forget(this.queue);
      throw error;
    }
    this.ports.known.forget(this.queue);
    if (epoch !== WHOLE.epoch) this.#goBy(WHOLE, epoch);
  }

  /** Calls every shard that may hold messages, and answers when all have answered. Throws what the first one throws. */
  async all<Result>(call: (shard: number) => Promise<Result>): Promise<Result[]> {
    const settled = await Promise.allSettled(this.kept.map(call));
    checkMap(settled);
    return settled.map((one) => {
      if (one.status === "rejected") throw one.reason;
      return one.value;
    });
  }

  /** Does something anew by each later map, until it ends without `MapChangedError`. */
  async byLaterMaps<Result>(act: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        return await act();
      } catch (error) {
        if (!(error instanceof MapChangedError)) throw error;
      }
    }
  }

  /** Goes by a map if it is later than `epoch`, by which the call was made that it answers. */
  #follow(map: ShardMap, epoch: number): void {
    if (map.epoch <= epoch) return;
    this.ports.known.learn(this.queue, map);
    this.#goBy(this.ports.known.get(this.queue)?.map ?? WHOLE, epoch);
  }

  #goBy(map: ShardMap, epoch: number): never {
    // Else a call beside this one was refused before, and has changed the map already.
    if (epoch === this.#map.epoch) {
      this.#map = map;
      this.#changes += 1;
    }
    if (this.#changes > MAP_CHANGES_MAX)
      throw new Error(`the shards of queue "${this.queue}" change too fast`);
    throw new MapChangedError(`queue "${this.queue}" has other shards`);
  }
}

/** Throws `MapChangedError` if one of several calls has. */
export function checkMap(settled: readonly PromiseSettledResult<unknown>[]): void {
  for (const one of settled) {
    if (one.status === "rejected" && one.reason instanceof MapChangedError) throw one.reason;
  }
}

/** Whether an answer of a shard is the failure that there is no such queue. */
function isNotFound(answer: unknown): boolean {
  const failure = answer as { readonly code?: unknown } | null | undefined;
  return failure?.code === QUEUE_ERROR_CODES.queueNotFound;
}
