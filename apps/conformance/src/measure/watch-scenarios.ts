import { setTimeout as sleep } from "node:timers/promises";
import { type Verdict, verdictOf } from "../scenario/row.ts";
import {
  type Observation,
  PATIENCE_MS,
  queueName,
  type Scenario,
  type SeenBatch,
} from "../scenario/scenario.ts";
import type { RunningSystem } from "../systems/system.ts";

/** Number of scenarios that send at the same time: enough to keep two cores busy. */
const SENDERS = 8;
const POLL_MS = 250;

class WatchedScenario {
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

  /** @param found result of `afterRestart`. Default: `null`. */
  observation(seen: readonly SeenBatch[], log: string, found: unknown = null): Observation {
    const batches = seen.filter(({ queue }) => this.#queues.has(queue));
    return { sent: this.#sent, batches, log, found };
  }

  isOver(observed: string | null): boolean {
    const watchedMs = Date.now() - this.#sentAtMs;
    if (watchedMs < (this.scenario.watchMs ?? 0)) return false;
    return observed === this.scenario.expected || watchedMs >= PATIENCE_MS;
  }
}

/** Lets all scenarios send. Resolves to them in the order of their sends. */
export async function sendAll(
  running: RunningSystem,
  scenarios: readonly Scenario[],
  onSent: (watched: WatchedScenario) => void = () => {},
): Promise<WatchedScenario[]> {
  const waiting = [...scenarios];
  const sent: WatchedScenario[] = [];
  const sendNext = async (): Promise<void> => {
    for (let scenario = waiting.shift(); scenario !== undefined; scenario = waiting.shift()) {
      const watched = new WatchedScenario(scenario, await running.send(scenario.id));
      sent.push(watched);
      onSent(watched);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sendNext));
  return sent;
}

/** Verdicts of scenarios that were watched. */
export interface Watching {
  readonly verdicts: ReadonlyMap<string, Verdict>;
  /** Longest time between two answers of the system, in ms. */
  readonly longestSilenceMs: number;
}

/** Lets all scenarios send, and observes each until it is over. */
export async function watchAll(running: RunningSystem, scenarios: readonly Scenario[]): Promise<Watching> {
  const verdicts = new Map<string, Verdict>();
  let watched: WatchedScenario[] = [];
  const look = async () => {
    const waiting = watched;
    watched = [];
    const seen = await running.seen();
    for (const each of waiting) {
      const observed = each.scenario.observe(each.observation(seen, running.log));
      if (each.isOver(observed)) verdicts.set(each.scenario.id, verdictOf(each.scenario, observed));
      else watched.push(each);
    }
  };
  let longestSilenceMs = 0;
  const watch = async () => {
    while (verdicts.size < scenarios.length) {
      const sinceMs = Date.now();
      await sleep(POLL_MS);
      await look();
      longestSilenceMs = Math.max(longestSilenceMs, Date.now() - sinceMs);
    }
  };
  await Promise.all([sendAll(running, scenarios, (each) => watched.push(each)), watch()]);
  return { verdicts, longestSilenceMs };
}
