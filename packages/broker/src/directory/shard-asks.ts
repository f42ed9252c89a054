import type { QueueRecord, ShardState } from "@sluice/protocol";
import { shardName } from "@sluice/protocol";
import type { Registry } from "./registry.ts";
import { type ShardQuestion, shardQuestions, shardsAnswered } from "./shards.ts";

/** Interval of questions to shards while the map of their queue waits for their answers, in ms. */
export const ASK_SHARDS_MS = 30_000;

/** Operations of their surroundings that questions to shards use. */
export interface ShardAsksPorts {
  /** Reads the state of a shard. @param record of its queue. */
  shardState(name: string, record: QueueRecord): Promise<ShardState>;
  transaction<Result>(write: () => Result): Result;
  now(): number;
  warn(line: string): void;
}

/** Latest question to the shards of a queue. In memory alone: a directory that starts asks at once. */
interface Asked {
  readonly epoch: number;
  readonly atMs: number;
}

/** Questions to draining shards whether they are empty, and to those of FIFO queues whether groups have moved. */
export class ShardAsks {
  readonly #registry: Registry;
  readonly #ports: ShardAsksPorts;
  readonly #asked = new Map<string, Asked>();

  constructor(registry: Registry, ports: ShardAsksPorts) {
    this.#registry = registry;
    this.#ports = ports;
  }

  /** Time until the next question, in ms; `null` if there is none to ask. */
  get dueInMs(): number | null {
    const waits = shardQuestions(this.#registry).map((question) => this.#waitMs(question));
    return waits.length === 0 ? null : Math.min(...waits);
  }

  /** Asks the questions that are due, and applies the answers. Never rejects. @returns whether a map changes. */
  async ask(): Promise<boolean> {
    const questions = shardQuestions(this.#registry);
    const names = new Set(questions.map(({ record }) => record.name));
    for (const name of this.#asked.keys()) if (!names.has(name)) this.#asked.delete(name);
    const due = questions.filter((question) => this.#waitMs(question) === 0);
    const changes = await Promise.all(due.map((question) => this.#ask(question)));
    return changes.includes(true);
  }

  async #ask(question: ShardQuestion): Promise<boolean> {
    const { record, map, shards } = question;
    this.#asked.set(record.name, { epoch: map.epoch, atMs: this.#ports.now() });
    const states = new Map<number, ShardState>();
    const each = async (shard: number) => {
      const name = shardName(record.name, shard);
      try {
        states.set(shard, await this.#ports.shardState(name, record));
      } catch (error) {
        this.#ports.warn(`queue "${name}" does not say how far it is, and is asked again: ${error}`);
      }
    };
    const [first = 0, ...others] = shards;
    // Shard 0 answers before the others are asked. By its map it passes nothing more on, so its answer still holds
    // then.
    await each(first);
    await Promise.all(others.map(each));
    try {
      return this.#ports.transaction(() => shardsAnswered(this.#registry, question, states));
    } catch {
      // The object starts again, and asks again.
      return false;
    }
  }

  #waitMs({ record, map }: ShardQuestion): number {
    const asked = this.#asked.get(record.name);
    if (asked?.epoch !== map.epoch) return 0;
    const passedMs = this.#ports.now() - asked.atMs;
    // The clock was set back: how much time has passed is unknown.
    return passedMs < 0 ? 0 : Math.max(0, ASK_SHARDS_MS - passedMs);
  }
}
