import { setTimeout as sleep } from "node:timers/promises";
import { queueName } from "./scenario/queue-names.ts";
import type { Verdict } from "./scenario/row.ts";
import { type Observation, PATIENCE_MS, type Scenario, type SeenBatch } from "./scenario/scenario.ts";
import { verdictOf } from "./scenario/verdict.ts";
import { type RunningSystem, type System, startSystem } from "./systems/system.ts";

/** Scenarios that send at the same time: enough to keep two cores busy. */
const SENDERS = 8;
const POLL_MS = 250;

/** A scenario that is being watched. */
interface Watched {
  readonly scenario: Scenario;
  readonly sent: unknown;
  readonly sentAtMs: number;
}

/** Runs all scenarios in a system, side by side, and answers with the verdict on each by its id. */
export async function runScenarios(
  system: System,
  scenarios: readonly Scenario[],
): Promise<ReadonlyMap<string, Verdict>> {
  const running = await startSystem(system, scenarios);
  try {
    return await watchAll(running, scenarios);
  } finally {
    await running.stop();
  }
}

/** Lets every scenario send, and looks at each until it is over. */
async function watchAll(
  running: RunningSystem,
  scenarios: readonly Scenario[],
): Promise<ReadonlyMap<string, Verdict>> {
  const verdicts = new Map<string, Verdict>();
  let watched: Watched[] = [];
  let isSending = true;
  const sending = sendAll(running, scenarios, (each) => watched.push(each)).finally(() => {
    isSending = false;
  });
  while (isSending || watched.length > 0) {
    await sleep(POLL_MS);
    const waiting = watched;
    watched = [];
    const seen = await running.seen();
    const { log } = running;
    for (const each of waiting) {
      const observed = each.scenario.observe(observationOf(each, seen, log));
      if (isOver(each, observed)) verdicts.set(each.scenario.id, verdictOf(each.scenario, observed));
      else watched.push(each);
    }
  }
  await sending;
  return verdicts;
}

async function sendAll(
  running: RunningSystem,
  scenarios: readonly Scenario[],
  onSent: (watched: Watched) => void,
): Promise<void> {
  const waiting = [...scenarios];
  const sendNext = async (): Promise<void> => {
    for (let scenario = waiting.shift(); scenario !== undefined; scenario = waiting.shift()) {
      const sent = await running.send(scenario.id);
      onSent({ scenario, sent, sentAtMs: Date.now() });
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sendNext));
}

function observationOf({ scenario, sent }: Watched, seen: readonly SeenBatch[], log: string): Observation {
  const queues = new Set(
    Object.entries(scenario.queues).map(([key, spec]) => queueName(scenario, key, spec)),
  );
  return { sent, batches: seen.filter(({ queue }) => queues.has(queue)), log };
}

function isOver({ scenario, sentAtMs }: Watched, observed: string | null): boolean {
  const watchedMs = Date.now() - sentAtMs;
  if (watchedMs < (scenario.watchMs ?? 0)) return false;
  return observed === scenario.expected || watchedMs >= PATIENCE_MS;
}
