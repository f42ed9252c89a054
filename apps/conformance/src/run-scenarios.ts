import type { Verdict } from "./scenario/row.ts";
import { LAPS_MS, type Scenario } from "./scenario/scenario.ts";
import { verdictOf } from "./scenario/verdict.ts";
import { type RunningSystem, type System, startSystem } from "./systems/system.ts";
import { sendAll, settleDown, type Watching, watchAll } from "./watch-scenarios.ts";

/**
 * Longest that a system may not be heard of, in ms: half the step in which delays are told apart. On a machine that is too
 * busy for it, what is not as expected is measured again.
 */
const SILENCE_MS_MAX = 2_000;
const REPEATS_MAX = 2;

/** Runs all scenarios in a system and answers with the verdict on each by its id. */
export async function runScenarios(
  system: System,
  scenarios: readonly Scenario[],
): Promise<ReadonlyMap<string, Verdict>> {
  const verdicts = new Map<string, Verdict>();
  let doubtful = scenarios;
  for (let run = 0; run <= REPEATS_MAX && doubtful.length > 0; run++) {
    const watching = await runOnce(system, doubtful);
    for (const [id, verdict] of watching.verdicts) verdicts.set(id, verdict);
    const isHeard = watching.longestSilenceMs <= SILENCE_MS_MAX;
    doubtful = isHeard ? [] : doubtful.filter(({ id }) => verdicts.get(id)?.kind !== "yes");
  }
  return verdicts;
}

/**
 * First the scenarios that go by real time, side by side; then those for which the clock is moved; then those over which
 * the system is started again.
 */
async function runOnce(system: System, scenarios: readonly Scenario[]): Promise<Watching> {
  const after = (when: "restart" | "laps" | undefined) =>
    scenarios.filter((scenario) => scenario.afterwards?.after === when);
  const running = await startSystem(system, scenarios);
  try {
    const { verdicts, longestSilenceMs } = await watchAll(running, after(undefined));
    const laps = await runLaps(running, after("laps"));
    const restarted = await runOverRestart(running, after("restart"));
    return { verdicts: new Map([...verdicts, ...laps, ...restarted]), longestSilenceMs };
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
  if (scenarios.length === 0) return new Map();
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
  if (scenarios.length === 0) return new Map();
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
