import {
  mapInError,
  mapInMetricsText,
  noteFailedShard,
  type QueueObjects,
  type ShardMap,
} from "@sluice/protocol";
import { KnownQueues } from "./known-queues.ts";
import type { Method, QueueRpc } from "./queue-rpc.ts";
import { isOfOneShard, isRefusedUnread } from "./refused.ts";
import type { Rules } from "./rule.ts";
import { type ShardPorts, Shards } from "./shards.ts";

/** Randomness and clock, which tests replace. */
export interface ShardedQueuesOptions {
  /** Random number, 0 to below 1. Default: `Math.random`. */
  readonly random?: () => number;
  /** Clock in ms. Default: `Date.now`. */
  readonly now?: () => number;
}

/**
 * Finds queues, whichever objects keep them. A queue is called as one without shards until its object says otherwise;
 * from then on each call goes to its shards by the rule of its method (docs/design/shards.md).
 */
export class ShardedQueues<Methods extends Method> {
  readonly #ports: ShardPorts;
  readonly #rules: Rules<Methods>;
  readonly #Queue: new (
    queue: string,
  ) => object;

  /** @param rules those of the methods that are called here: others do not have to be in the bundle. */
  constructor(
    objects: QueueObjects<Pick<QueueRpc, Methods>>,
    rules: Rules<Methods>,
    { random = Math.random, now = Date.now }: ShardedQueuesOptions = {},
  ) {
    const known = new KnownQueues(random);
    this.#ports = { objects: objects as QueueObjects<QueueRpc>, known, waits: new Map(), now };
    this.#rules = rules;
    const call = this.#call.bind(this);
    /** A queue: one method for each rule. */
    class Queue {
      readonly name: string;
      constructor(name: string) {
        this.name = name;
      }
    }
    for (const method of Object.keys(rules)) {
      Object.defineProperty(Queue.prototype, method, {
        value(this: Queue, _: string, ...rest: readonly unknown[]) {
          return call(this.name, method as Methods, rest);
        },
      });
    }
    this.#Queue = Queue;
  }

  /** Returns a queue. It keeps no stub, so it may outlive the request. */
  of(queue: string): Pick<QueueRpc, Methods> {
    return new this.#Queue(queue) as Pick<QueueRpc, Methods>;
  }

  async #call(queue: string, method: Methods, rest: readonly unknown[]): Promise<unknown> {
    const { known, objects } = this.#ports;
    if (known.get(queue) === undefined) {
      try {
        const object = objects.of(queue) as unknown as Record<Method, (...args: unknown[]) => unknown>;
        const answer = await object[method](queue, ...rest);
        const map = mapInAnswer(method, answer);
        if (map !== null) known.learn(queue, map);
        if (!isOfOneShard(answer) || !(await this.#askForShards(queue))) return answer;
      } catch (error) {
        const map = mapInError(error);
        if (map !== null) known.learn(queue, map);
        else if (!isRefusedUnread(error) || !(await this.#askForShards(queue)))
          throw noteFailedShard(error, 0);
      }
    }
    const shards = new Shards(queue, this.#ports);
    const rule = this.#rules[method] as unknown as (shards: Shards, ...rest: unknown[]) => Promise<unknown>;
    return shards.byLaterMaps(() => rule(shards, ...rest));
  }

  /** Asks the directory for the shards of a queue whose first one refuses. Returns whether it has others. */
  async #askForShards(queue: string): Promise<boolean> {
    const { known, objects, now } = this.#ports;
    const map = known.noteQuestion(queue, now()) ? await objects.mapOf(queue) : null;
    if (map !== null) known.learn(queue, map);
    return known.get(queue) !== undefined;
  }
}

/** Finds the map that the answer to a send has: shard 0 stores what is sent by no map. */
function mapInAnswer(method: Method, answer: unknown): ShardMap | null {
  if (method === "post") return typeof answer === "string" ? mapInMetricsText(answer) : null;
  return method === "send" ? ((answer as { readonly shards?: ShardMap }).shards ?? null) : null;
}
