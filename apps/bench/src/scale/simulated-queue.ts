import { refuseDraining, refuseOtherMap, takesWithoutMap } from "@sluice/broker/called-by-map";
import { GroupCommit } from "@sluice/broker/group-commit";
import {
  metricsText,
  type PostReply,
  type QueueDefinition,
  readShardAddress,
  type SendRequest,
  type ShardMap,
  shardMapText,
  shardName,
} from "@sluice/protocol";
import { type Costs, DURABLE_MS, REQUESTS_AT_ONCE_MAX, REQUESTS_PER_SECOND_MAX } from "./costs.ts";
import { ObjectThread } from "./object-thread.ts";
import type { VirtualTime } from "./virtual-time.ts";

export const QUEUE = "orders";

const FIGURES = metricsText({ backlogCount: 0, backlogBytes: 0, oldestMessageTimestampMs: 0 });

/** Costs and limits of simulated objects. */
export interface ObjectConditions {
  readonly costs: Costs;
  /** Time until a commit is durable, in ms. Default `DURABLE_MS`. */
  readonly durableMs?: number;
  /** Requests a second that the platform lets through to one object. Default `REQUESTS_PER_SECOND_MAX`. */
  readonly requestsPerSecondMax?: number;
}

/** Counts of an object. */
export interface ObjectCounts {
  calls: number;
  messages: number;
  commits: number;
  /** Calls that the platform has refused. */
  overloaded: number;
  /** Calls that were answered with another map. */
  remapped: number;
  /** Time in ms in which calls were under way. */
  awakeMs: number;
}

/**
 * The objects of a queue. They run the broker's own code that checks maps and shares commits; the time of each step is
 * given by `Costs`.
 */
export class SimulatedQueue {
  readonly #time: VirtualTime;
  readonly #conditions: ObjectConditions;
  readonly #objects = new Map<string, SimulatedObject>();
  #map: ShardMap;

  constructor(time: VirtualTime, conditions: ObjectConditions, shards: number) {
    this.#time = time;
    this.#conditions = conditions;
    this.#map = { epoch: 1, open: shards, kept: shards };
  }

  /** Sets a larger number of shards, in a map with the next epoch. */
  grow(shards: number): void {
    this.#map = { epoch: this.#map.epoch + 1, open: shards, kept: shards };
  }

  get map(): ShardMap {
    return this.#map;
  }

  object(name: string): SimulatedObject {
    let object = this.#objects.get(name);
    if (object === undefined) {
      object = new SimulatedObject(this.#time, this.#conditions, name, () => this.#map);
      this.#objects.set(name, object);
    }
    return object;
  }

  /** Its shards, in order. */
  get shards(): SimulatedObject[] {
    return Array.from({ length: this.#map.open }, (_, shard) => this.object(shardName(QUEUE, shard)));
  }
}

/** A queue's object as the platform runs it: one thread, behind a gate that refuses too many requests. */
export class SimulatedObject {
  isAway = false;
  readonly #counts: ObjectCounts = {
    calls: 0,
    messages: 0,
    commits: 0,
    overloaded: 0,
    remapped: 0,
    awakeMs: 0,
  };
  readonly #time: VirtualTime;
  readonly #costs: Costs;
  readonly #name: string;
  readonly #mapOf: () => ShardMap;
  readonly #thread: ObjectThread;
  readonly #commits: GroupCommit;
  readonly #perSecondMax: number;
  #tokens = REQUESTS_AT_ONCE_MAX;
  #tokensAtMs = 0;
  #underWay = 0;
  #awakeSinceMs = 0;

  constructor(time: VirtualTime, conditions: ObjectConditions, name: string, mapOf: () => ShardMap) {
    const { costs, durableMs = DURABLE_MS, requestsPerSecondMax = REQUESTS_PER_SECOND_MAX } = conditions;
    this.#time = time;
    this.#costs = costs;
    this.#name = name;
    this.#mapOf = mapOf;
    this.#perSecondMax = requestsPerSecondMax;
    this.#thread = new ObjectThread(time);
    this.#commits = new GroupCommit({
      turn: (jobs) => {
        jobs();
        this.#counts.commits += 1;
        this.#thread.hold(costs.commitMs);
      },
      synced: async () => {
        await time.sleep(costs.commitMs + durableMs);
        // The code after a commit runs on the thread, after the work that waits there.
        await this.#thread.run(0);
      },
      durable: () => {},
      broken: (error) => {
        throw error;
      },
    });
  }

  /** Counts so far; `awakeMs` includes the calls under way. */
  countsNow(): ObjectCounts {
    const awakeMs = this.#underWay > 0 ? this.#time.now() - this.#awakeSinceMs : 0;
    return { ...this.#counts, awakeMs: this.#counts.awakeMs + awakeMs };
  }

  /** Time for which its thread has worked, in ms. */
  get busyMs(): number {
    return this.#thread.busyMs;
  }

  /** Takes a call of a producer that has arrived. Resolves when its messages are durable. */
  async post(address: string, requests: readonly SendRequest[]): Promise<PostReply> {
    if (this.isAway) throw new Error("Network connection lost.");
    if (!this.#takeToken()) {
      this.#counts.overloaded += 1;
      throw Object.assign(new Error("Durable Object is overloaded."), { overloaded: true });
    }
    this.#begin();
    try {
      return await this.#store(address, requests);
    } finally {
      this.#end();
    }
  }

  async #store(address: string, requests: readonly SendRequest[]): Promise<PostReply> {
    this.#counts.calls += 1;
    await this.#thread.run(this.#costs.callMs + this.#costs.messageMs * requests.length);
    const { epoch } = readShardAddress(address);
    const map = this.#mapOf();
    const called = {
      object: this.#name,
      epoch,
      record: { shards: map, emptyAsOf: 0, definition: DEFINITION },
    };
    try {
      if (!takesWithoutMap(called)) refuseOtherMap(called);
      refuseDraining(called);
    } catch (error) {
      this.#counts.remapped += 1;
      throw error;
    }
    await this.#commits.submit(() => {
      this.#counts.messages += requests.length;
    });
    return epoch === null ? `${FIGURES} ${shardMapText(map)}` : FIGURES;
  }

  /** Takes a token from a bucket if there is one. Returns whether the platform lets the request through. */
  #takeToken(): boolean {
    const nowMs = this.#time.now();
    const gained = ((nowMs - this.#tokensAtMs) * this.#perSecondMax) / 1_000;
    this.#tokens = Math.min(REQUESTS_AT_ONCE_MAX, this.#tokens + gained);
    this.#tokensAtMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  #begin(): void {
    if (this.#underWay === 0) this.#awakeSinceMs = this.#time.now();
    this.#underWay += 1;
  }

  #end(): void {
    this.#underWay -= 1;
    if (this.#underWay === 0) this.#counts.awakeMs += this.#time.now() - this.#awakeSinceMs;
  }
}

const DEFINITION: QueueDefinition = {
  deliveryDelaySeconds: 0,
  messageRetentionSeconds: 86_400,
  producers: [],
  consumer: null,
};
