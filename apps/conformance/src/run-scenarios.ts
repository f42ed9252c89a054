import type { Verdict } from "./scenario/row.ts";
import { LAPS_MS, type Scenario } from "./scenario/scenario.ts";
import { verdictOf } from "./scenario/verdict.ts";
import { type RunningSystem, type System, startSystem } from "./systems/system.ts";
import { sendAll, settleDown, watchAll } from "./watch-scenarios.ts";

/**
 * Runs all scenarios in a system and answers with the verdict on each by its id: first those that go by real time, side by
 * side; then those for which the clock is moved; then those over which it is started again.
 */
export async function runScenarios(
  system: System,
  scenarios: readonly Scenario[],
): Promise<ReadonlyMap<string, Verdict>> {
  const after = (when: "restart" | "laps" | undefined) =>
    scenarios.filter((scenario) => scenario.afterwards?.after === when);
  const running = await startSystem(system, scenarios);
  try {
    return new Map([
      ...(await watchAll(running, after(undefined))),
      ...(await runLaps(running, after("laps"))),
      ...(await runOverRestart(running, after("restart"))),
    ]);
  } finally {
    await running.stop();
  }
}

/** Moves the clock on to each lap and looks at every scenario there. */
async function runLaps(
  running: RunningSystem,
  scenarios: readonly Scenario[],
): Promise<ReadonlyMap<string, Verdict>> {
  const { advanceClock } = running;
  if (advanceClock === null)
    return new Map(scenarios.map((scenario) => [scenario.id, notMeasured(scenario)]));
  const watched = await sendAll(running, scenarios);
  await settleDown(running);
  let passedMs = 0;
  for (const lapMs of LAPS_MS) {
    await advanceClock(lapMs - passedMs);
    passedMs = lapMs;
    await settleDown(running);
    for (const each of watched) await each.look(running);
  }
  return verdictsOn(running, watched);
}

function notMeasured({ id, afterwards }: Scenario): Verdict {
  if (afterwards?.miniflare === undefined) throw new Error(`${id} does not say what Miniflare's source says`);
  return afterwards.miniflare;
}

/** Starts the system again and looks at every scenario. */
async function runOverRestart(
  running: RunningSystem,
  scenarios: readonly Scenario[],
): Promise<ReadonlyMap<string, Verdict>> {
  const watched = await sendAll(running, scenarios);
  await running.restart();
  for (const each of watched) await each.look(running);
  return verdictsOn(running, watched);
}

async function verdictsOn(
  running: RunningSystem,
  watched: Awaited<ReturnType<typeof sendAll>>,
): Promise<ReadonlyMap<string, Verdict>> {
  const seen = await running.seen();
  return new Map(
    watched.map((each) => {
      const { scenario } = each;
      const observed = scenario.observe(each.observation(seen, running.log));
      return [scenario.id, verdictOf(scenario, observed)];
    }),
  );
}
