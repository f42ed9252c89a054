import { microtasksDone } from "../world/virtual-loop.ts";
import { World, type WorldParts } from "../world/world.ts";
import type { ShardDirectory } from "./shard-directory.ts";
import { ShardLedger } from "./shard-ledger.ts";
import { ShardObject } from "./shard-object.ts";
import type { ShardScenario } from "./shard-scenario.ts";
import type { ShardWorker } from "./shard-worker.ts";

/** Properties of queues with shards. */
export const SHARD_PROPERTIES = [
  "acknowledged survives in shards",
  "one shard has it",
  "one shard has a group",
  "group order over shards",
  "concurrency over shards",
  "throttle over shards",
  "paused in all shards",
  "purge of all shards",
  "stale map",
  "no shard starves",
  "counts of all shards",
  "a shard is away",
  "old producers",
  "empty in all shards",
  "drained shards",
  "deduplication over maps",
  "due time in shards",
  "tokens of shards",
  "liveness of shards",
] as const;
export type ShardProperty = (typeof SHARD_PROPERTIES)[number];

/** A world whose queues have shards: their objects, the directory, and what is known of every message. */
export class ShardWorld extends World {
  readonly scenario: ShardScenario;
  readonly ledger: ShardLedger;
  readonly objects = new Map<string, ShardObject>();
  /** The message of each token that an object has given, by object and token. */
  readonly tagOfToken = new Map<string, number>();
  directory: ShardDirectory | null = null;
  worker: ShardWorker | null = null;
  readonly #watched: ReadonlySet<string>;
  readonly #work = new Set<Promise<unknown>>();
  #calls = 0;

  constructor(parts: WorldParts, scenario: ShardScenario, watched: readonly string[]) {
    super(parts);
    this.scenario = scenario;
    this.#watched = new Set(watched);
    this.ledger = new ShardLedger(this);
  }

  /** The object of a name, made at its first call. */
  object(name: string): ShardObject {
    let object = this.objects.get(name);
    if (object === undefined) {
      object = new ShardObject(this, name);
      this.objects.set(name, object);
    }
    return object;
  }

  nextCall(): number {
    this.#calls += 1;
    return this.#calls;
  }

  /** Notes a violation of a property, if that is watched. */
  violates(property: ShardProperty, name: string, text: string): void {
    if (this.#watched.has(property)) this.fail(property, { name }, text);
  }

  waitFor(work: Promise<unknown>): void {
    this.#work.add(work);
  }

  async settled(): Promise<void> {
    while (this.#work.size > 0) {
      const work = [...this.#work];
      this.#work.clear();
      await Promise.allSettled(work);
      await microtasksDone();
    }
  }
}
