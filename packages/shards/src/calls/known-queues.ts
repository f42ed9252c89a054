import { isWhole, type ShardMap } from "@sluice/protocol";

/** Queues with shards that are remembered. The one that was learned first is forgotten for another one. */
export const QUEUES_KNOWN_MAX = 1_000;
/** How long after a question to the directory it is not asked about the queue again, in ms. */
export const ASK_DIRECTORY_MS = 30_000;
/**
 * Receives in a row that begin with the same shard. Then the next shard's turn comes, so that the messages of other
 * shards are received too while one always has some.
 */
export const RECEIVES_IN_A_ROW_MAX = 10;

/** Facts about a queue with shards that an isolate has learned. */
export interface KnownQueue {
  readonly map: ShardMap;
  /** Shard that messages of a standard queue are sent to. */
  sendTo: number;
  /** Shard that the next receive begins with, and how many have begun with it. */
  receiveFrom: number;
  receivesInARow: number;
}

/** Memory of queues with shards. A queue without shards is not in it. */
export class KnownQueues {
  readonly #queues = new Map<string, KnownQueue>();
  /** When the directory was last asked about a queue, in ms. */
  readonly #asked = new Map<string, number>();
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  get(queue: string): KnownQueue | undefined {
    return this.#queues.get(queue);
  }

  /** Takes over a map, unless a later one is known. */
  learn(queue: string, map: ShardMap): void {
    const known = this.#queues.get(queue);
    if (known !== undefined && known.map.epoch > map.epoch) return;
    this.#queues.delete(queue);
    if (isWhole(map)) return;
    if (this.#queues.size >= QUEUES_KNOWN_MAX) {
      const [first = ""] = this.#queues.keys();
      this.#queues.delete(first);
    }
    // Chosen anew when there are other shards, so that new ones get their part.
    const sendTo =
      known?.map.open === map.open ? known.sendTo : Math.floor(this.#random() * map.open) % map.open;
    this.#queues.set(queue, { map, sendTo, receiveFrom: known?.receiveFrom ?? sendTo, receivesInARow: 0 });
  }

  /**
   * Notes a question to the directory about a queue. Returns `false`, and notes nothing, if it is too early for one.
   */
  noteQuestion(queue: string, nowMs: number): boolean {
    if (nowMs - (this.#asked.get(queue) ?? -Infinity) < ASK_DIRECTORY_MS) return false;
    if (this.#asked.size >= QUEUES_KNOWN_MAX) this.#asked.clear();
    this.#asked.set(queue, nowMs);
    return true;
  }

  forget(queue: string): void {
    this.#queues.delete(queue);
  }
}
