import { queueName } from "./scenario/queue-names.ts";
import {
  type Look,
  type Observation,
  PATIENCE_MS,
  type Scenario,
  type SeenBatch,
} from "./scenario/scenario.ts";
import type { RunningSystem } from "./systems/system.ts";

/** A scenario that has sent, and what is known of it. */
export class WatchedScenario {
  readonly scenario: Scenario;
  readonly #sent: unknown;
  readonly #sentAtMs = Date.now();
  readonly #looks: Look[] = [];
  readonly #queues: ReadonlySet<string>;

  constructor(scenario: Scenario, sent: unknown) {
    this.scenario = scenario;
    this.#sent = sent;
    this.#queues = new Set(
      Object.entries(scenario.queues).map(([key, spec]) => queueName(scenario, key, spec)),
    );
  }

  observation(seen: readonly SeenBatch[], log: string): Observation {
    return { sent: this.#sent, batches: this.#ofMine(seen), log, looks: this.#looks };
  }

  /** Lets it look at its queues. */
  async look(running: RunningSystem): Promise<void> {
    const found = await running.look(this.scenario.id);
    this.#looks.push({ found, batches: this.#ofMine(await running.seen()).length });
  }

  /** Whether there is nothing more to wait for, after what was observed. */
  isOver(observed: string | null): boolean {
    const watchedMs = Date.now() - this.#sentAtMs;
    if (watchedMs < (this.scenario.watchMs ?? 0)) return false;
    return observed === this.scenario.expected || watchedMs >= PATIENCE_MS;
  }

  #ofMine(seen: readonly SeenBatch[]): SeenBatch[] {
    return seen.filter(({ queue }) => this.#queues.has(queue));
  }
}
