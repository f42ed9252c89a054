import {
  isFifoName,
  ownerOf,
  packMessages,
  QueueObjects,
  type ShardMap,
  shardName,
  shardOf,
} from "@sluice/protocol";
import { QUEUE_RULES, type QueueRpc, ShardedQueues } from "../src/index.ts";
import type { FakeMessage } from "./fake-messages.ts";
import { FakeShard } from "./fake-shard.ts";

/** A queue of fake shards, and the directory's part: the map changes step by step. */
export class FakeQueue {
  readonly queue: string;
  readonly objects = new Map<string, FakeShard>();
  readonly removed = new Set<string>();
  /** Calls that no caller makes. */
  readonly faults: string[] = [];
  readonly calls: { readonly name: string; readonly method: string; readonly args: readonly unknown[] }[] =
    [];
  /** Called before each call of an object. It may change the map, and throw in place of the call. */
  beforeCall: (name: string, method: string) => void = () => {};
  /** Questions to the directory for the queue's map. */
  asked = 0;
  /** Answers in the directory's place. */
  mapOf = async (): Promise<ShardMap | null> => this.shard(0).map;
  /** Whether the answer of a call is lost. */
  isLost: (name: string, method: string) => boolean = () => false;
  /** How often deduplication ids were forgotten. */
  expired = 0;
  /** Time that has passed besides, in ms. */
  passedMs = 0;
  #ms = 0;
  #lease = 0;

  constructor(queue: string) {
    this.queue = queue;
    this.objects.set(queue, new FakeShard(queue, this));
  }

  nextMs(): number {
    this.#ms += 1;
    return this.#ms;
  }

  nextLease(): number {
    this.#lease += 1;
    return this.#lease;
  }

  shard(number: number): FakeShard {
    const name = shardName(this.queue, number);
    let object = this.objects.get(name);
    if (object === undefined) {
      object = new FakeShard(name, this);
      object.exists = false;
      this.objects.set(name, object);
    }
    return object;
  }

  get shards(): FakeShard[] {
    return [...this.objects.values()].filter(({ exists }) => exists);
  }

  get messages(): FakeMessage[] {
    return this.shards.flatMap(({ messages }) => messages);
  }

  /** The map of shard 0: what a caller learns. */
  get map(): ShardMap {
    return this.shard(0).map ?? { epoch: 0, open: 1, kept: 1 };
  }

  /** Changes the number of shards: shards that know it are told later, by `tell`. */
  open(open: number): void {
    const { map, shards } = this;
    const groups = isFifoName(this.queue) && map.open !== open ? { before: map.open } : {};
    const kept = Math.max(open, ...shards.map(({ shard }) => shard + 1));
    const next: ShardMap = { epoch: map.epoch + 1, open, kept, ...groups };
    for (let shard = 1; shard < kept; shard++) {
      const object = this.shard(shard);
      if (object.exists) continue;
      object.exists = true;
      object.map = next;
    }
    this.shard(0).map = next;
  }

  /** Tells a shard the map. */
  tell(shard: number): void {
    const object = this.shard(shard);
    if (object.exists && this.map.epoch > 0) object.map = this.map;
  }

  /** Removes the last shard if it is draining, knows it and is empty. */
  removeDrained(): void {
    const { map } = this;
    const last = this.shard(map.kept - 1);
    const isDrained =
      last.messages.length === 0 && last.map?.epoch === map.epoch && last.waiting.length === 0;
    if (map.kept <= map.open || !isDrained || map.before !== undefined) return;
    this.shard(0).map = { ...map, epoch: map.epoch + 1, kept: map.kept - 1 };
    last.exists = false;
  }

  /** Ends the move of groups if all are where they belong. */
  endMove(): void {
    const { map } = this;
    if (map.before === undefined) return;
    const knowIt = this.shards.every((object) => object.map?.epoch === map.epoch);
    const isDone = this.shards.every(({ shard, messages }) =>
      messages.every(({ group }) => ownerOf(group, map.open) === shard),
    );
    const areForgotten = this.shards.every(({ shard, known }) =>
      [...known.keys()].every((key) => ownerOf(key.split(" ")[0] ?? "", map.open) === shard),
    );
    if (!knowIt || !isDone || !areForgotten) return;
    const { before: _, ...rest } = map;
    for (const object of this.shards) object.moved.clear();
    this.shard(0).map = { ...rest, epoch: map.epoch + 1 };
  }

  /** Five minutes pass: deduplication ids are forgotten. */
  expire(): void {
    this.expired += 1;
    for (const object of this.objects.values()) object.known.clear();
  }

  /** Makes what a caller finds queues by. */
  callers(random: () => number = () => 0, rules = QUEUE_RULES): ShardedQueues<keyof QueueRpc> {
    const objects = new QueueObjects<QueueRpc>({
      namespace: () => ({ getByName: (name) => this.#stub(name) }),
      placeOf: async () => null,
      mapOf: () => {
        this.asked += 1;
        return this.mapOf();
      },
    });
    return new ShardedQueues(objects, rules, { random, now: () => this.#ms + this.passedMs });
  }

  of(random?: () => number): QueueRpc {
    return this.callers(random).of(this.queue);
  }

  #stub(name: string): QueueRpc {
    return new Proxy({} as QueueRpc, {
      get:
        (_, method: string) =>
        async (...args: readonly unknown[]) => {
          await Promise.resolve();
          this.calls.push({ name, method, args });
          this.beforeCall(name, method);
          const object = this.shard(shardOf(name).shard) as unknown as Record<string, unknown>;
          const answer = await Reflect.apply(object[method] as () => unknown, object, args);
          if (this.isLost(name, method)) throw new Error("the answer is lost");
          return answer;
        },
    });
  }
}

let made = 0;

/** Packs messages: each of a group, with a deduplication id if one is named. */
export function packed(
  ...messages: readonly { readonly group?: string; readonly dedup?: string }[]
): Uint8Array {
  return packMessages(
    messages.map(({ group, dedup }) => {
      made += 1;
      return {
        id: made.toString(16).padStart(32, "0"),
        contentType: "text" as const,
        body: new TextEncoder().encode(String(made)),
        ...(group === undefined
          ? {}
          : { extension: { groupId: group, ...(dedup === undefined ? {} : { deduplicationId: dedup }) } }),
      };
    }),
  );
}
