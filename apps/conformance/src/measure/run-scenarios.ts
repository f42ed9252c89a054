import { type Verdict, verdictOf } from "../scenario/row.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { type RunningSystem, type System, startSystem } from "../systems/system.ts";
import { sendAll, type Watching, watchAll } from "./watch-scenarios.ts";

/**
 * Longest silence of a system, in ms: half of the smallest difference of delays that scenarios notice. After a longer
 * one, scenarios with an unexpected outcome are run again.
 */
const SILENCE_MS_MAX = 2_000;
const REPEATS_MAX = 2;

/** Runs all scenarios in a system. Resolves to the verdicts by the scenarios' ids. */
export async function runScenarios(
  system: System,
  scenarios: readonly Scenario[],
): Promise<ReadonlyMap<string, Verdict>> {
  const verdicts = new Map<string, Verdict>();
  let doubtful = scenarios;
  for (let run = 0; run <= REPEATS_MAX && doubtful.length > 0; run++) {
    const watching = await runOnce(system, doubtful);
    for (const [id, verdict] of watching.verdicts) verdicts.set(id, verdict);
    const isReliable = watching.longestSilenceMs <= SILENCE_MS_MAX;
    doubtful = isReliable ? [] : doubtful.filter(({ id }) => verdicts.get(id)?.kind !== "yes");
  }
  return verdicts;
}

/** Runs all scenarios without a restart at the same time, and then those with one. */
async function runOnce(system: System, scenarios: readonly Scenario[]): Promise<Watching> {
  const running = await startSystem(system, scenarios);
  try {
    const lasting = scenarios.filter(({ afterRestart }) => afterRestart !== undefined);
    const watching = await watchAll(
      running,
      scenarios.filter((scenario) => !lasting.includes(scenario)),
    );
    const restarted = await runOverRestart(running, lasting);
    return { ...watching, verdicts: new Map([...watching.verdicts, ...restarted]) };
  } finally {
    await running.stop();
  }
}

async function runOverRestart(
  running: RunningSystem,
  scenarios: readonly Scenario[],
): Promise<ReadonlyMap<string, Verdict>> {
  const verdicts = new Map<string, Verdict>();
  if (scenarios.length === 0) return verdicts;
  const watched = await sendAll(running, scenarios);
  await running.restart();
  for (const each of watched) {
    const found = await running.look(each.scenario.id);
    const observed = each.scenario.observe(each.observation(await running.seen(), running.log, found));
    verdicts.set(each.scenario.id, verdictOf(each.scenario, observed));
  }
  return verdicts;
}
