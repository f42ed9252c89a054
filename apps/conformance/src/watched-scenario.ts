import {
  type Observation,
  PATIENCE_MS,
  queueName,
  type Scenario,
  type SeenBatch,
} from "./scenario/scenario.ts";

/** A scenario that has sent, and what is known of it. */
export class WatchedScenario {
  readonly scenario: Scenario;
  readonly #sent: unknown;
  readonly #sentAtMs = Date.now();
  readonly #queues: ReadonlySet<string>;

  constructor(scenario: Scenario, sent: unknown) {
    this.scenario = scenario;
    this.#sent = sent;
    this.#queues = new Set(
      Object.entries(scenario.queues).map(([key, spec]) => queueName(scenario, key, spec)),
    );
  }

  /** @param found what it has found after a restart. */
  observation(seen: readonly SeenBatch[], log: string, found: unknown = null): Observation {
    const batches = seen.filter(({ queue }) => this.#queues.has(queue));
    return { sent: this.#sent, batches, log, found };
  }

  /** Whether there is nothing more to wait for, after what was observed. */
  isOver(observed: string | null): boolean {
    const watchedMs = Date.now() - this.#sentAtMs;
    if (watchedMs < (this.scenario.watchMs ?? 0)) return false;
    return observed === this.scenario.expected || watchedMs >= PATIENCE_MS;
  }
}
