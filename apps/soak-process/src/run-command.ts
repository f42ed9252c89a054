import { commit } from "@sluice/harness/commit";
import type { Tally } from "@sluice/harness/ledger";
import { type Line, table } from "@sluice/harness/report";
import type { Command } from "./command-line.ts";
import { damagedWorkers } from "./damage/damaged-workers.ts";
import { damageLines, describeCase } from "./damage/report.ts";
import { type DamageOptions, runDamage } from "./damage/run-damage.ts";
import type { Summary } from "./ledger/delivery-ledger.ts";
import { WorkersScenario } from "./load/workers-scenario.ts";
import { REQUESTS, runPlantedPowerCuts, runPowerCuts } from "./power/power-cuts.ts";
import { summaryLines } from "./report.ts";
import { runAdoptKills } from "./runs/adopt-kills.ts";
import { runAlertKills } from "./runs/alert-kills.ts";
import { runDiskFull, SQS_KILLED_SHARE } from "./runs/disk-full.ts";
import { runFreezes } from "./runs/freezes.ts";
import { runKills } from "./runs/kills.ts";
import { runRollouts } from "./runs/rollouts.ts";
import { runSqsSwaps } from "./runs/sqs-swaps.ts";
import { canTrace, runSqsSyncs } from "./runs/sqs-syncs.ts";
import type { Ended, OpenScenario } from "./scenario/scenario.ts";
import { ShardsScenario } from "./shards/shards-scenario.ts";
import { damagedSqs } from "./sqs/damaged-sqs.ts";
import type { SqsSummary } from "./sqs/receive-ledger.ts";
import { SqsScenario } from "./sqs/sqs-scenario.ts";

const SOURCES = ["packages", "apps/broker", "apps/harness", "apps/soak-process"];

/** Fewest messages that are stored before a kill while shards change: hundreds of objects may have to start first. */
const SHARDS_STORED_MIN = 20;

const KILLS_PER_LINE = 50;
const RUNS_PER_LINE = 10;
const STATES_PER_LINE = 500;

/** Carries a command out and prints its figures. Resolves to whether no violation was found. */
export async function runCommand(command: Command): Promise<boolean> {
  const { broker, kind, seed } = command;
  console.log(`${broker} ${kind}, seed ${seed}, commit ${commit(...SOURCES)}, ${new Date().toISOString()}`);
  const startMs = Date.now();
  const took = () => `${Math.round((Date.now() - startMs) / 1000)} s`;
  if (kind === "damage") {
    const onCase: DamageOptions["onCase"] = (number, each) => console.log(describeCase(number, each));
    const cases = await runDamage(await (broker === "sqs" ? damagedSqs : damagedWorkers)(), {
      numbers: Array.from({ length: command.cases }, (_, i) => command.from + i),
      seed,
      onCase,
    });
    console.log(table([...damageLines(cases), ["took", took()]]));
    return cases.every(({ violations }) => violations.length === 0);
  }
  if (kind === "syncs") return runSyncs(command);
  if (kind === "alerts") return runAlerts(command, took);
  if (kind === "power") return cutPower(command, took);
  if (kind === "adopt") return runAdopt(command, took);
  if (kind === "rollouts") return rollOut(command, took);
  if (kind === "shards") return changeShards(command, took);
  const run = <S extends Summary | SqsSummary>(open: OpenScenario<S>) => runScenario(command, open, took);
  return broker === "sqs"
    ? run((persistDir) => SqsScenario.open(seed, persistDir))
    : run((persistDir) => WorkersScenario.open(seed, persistDir));
}

async function runSyncs(command: Extract<Command, { kind: "syncs" }>): Promise<boolean> {
  if (!canTrace()) {
    console.log("strace is not installed, or may not trace: nothing was counted.");
    return true;
  }
  const results = await runSqsSyncs(command);
  for (const { platform, answers, syncs, violationTexts } of results) {
    console.log(
      table([
        [`${platform}: answers`, answers],
        ["  syncs of the queue's log before them", syncs],
      ]),
    );
    for (const text of violationTexts) console.log(`  violation: ${text}`);
  }
  return results.every(({ violationTexts }) => violationTexts.length === 0);
}

async function runAlerts(
  command: Extract<Command, { kind: "alerts" }>,
  took: () => string,
): Promise<boolean> {
  const onRun = (runs: number) => {
    if (runs % RUNS_PER_LINE === 0) console.log(`  ${runs} of ${command.runs}, ${took()}`);
  };
  const { kills, begun, ended, repeated, violations } = await runAlertKills({ ...command, onRun });
  console.log(
    table([
      ["dead-letter queues that got their first message", command.runs],
      ["kills around them", kills],
      ["alerts that began", begun],
      ["alerts that ended", ended],
      ["requests that came again with the id of an earlier one", repeated],
      ["took", took()],
    ]),
  );
  for (const text of violations) console.log(`  violation: ${text}`);
  return violations.length === 0 && begun === command.runs && ended === command.runs;
}

async function cutPower(command: Extract<Command, { kind: "power" }>, took: () => string): Promise<boolean> {
  if (!canTrace()) {
    console.log("strace is not installed, or may not trace: no power was cut.");
    return true;
  }
  const options = { ...command, requests: REQUESTS };
  if (command.isPlanted) {
    const results = await runPlantedPowerCuts(options);
    for (const { planted, found, states } of results) {
      console.log(`  not synced: ${planted}`);
      console.log(
        found === null
          ? `    NOT FOUND in ${states} states`
          : `    state ${found.number}: ${found.violations[0]}`,
      );
    }
    return results.every(({ found }) => found !== null);
  }
  let done = 0;
  const results = await runPowerCuts({
    ...options,
    onState: (platform, { number, kind, event, kept, violations }) => {
      done += 1;
      if (done % STATES_PER_LINE === 0) console.log(`  ${done} of ${command.states}, ${took()}`);
      if (violations.length === 0) return;
      console.log(
        `  ${platform}, state ${number}: cut after event ${event}, ${kind}${kept === null ? "" : `; kept in ${kept}`}`,
      );
      for (const text of violations) console.log(`    violation: ${text}`);
    },
  });
  for (const { platform, recordings, events, answers, states } of results) {
    console.log(
      table([
        [`${platform}: states after power cuts`, states.length],
        ["  of these opened by the command itself", states.filter(({ isByCommand }) => isByCommand).length],
        ["  recordings, of three lives each", recordings],
        ["  writes, syncs and answers in them", events],
        ["  of these answers", answers],
        ["  states with violations", states.filter(({ violations }) => violations.length > 0).length],
      ]),
    );
  }
  console.log(table([["took", took()]]));
  return results.every(({ states }) => states.every(({ violations }) => violations.length === 0));
}

async function runAdopt(command: Extract<Command, { kind: "adopt" }>, took: () => string): Promise<boolean> {
  const onKill = (kills: number) => {
    if (kills % RUNS_PER_LINE === 0) console.log(`  ${kills} of ${command.kills}, ${took()}`);
  };
  const { kills, messages, recognised, violations } = await runAdoptKills({ ...command, onKill });
  console.log(
    table([
      ["kills of the command", kills],
      ["messages that were moved", messages],
      ["messages that its last run has recognised", recognised],
      ["took", took()],
    ]),
  );
  for (const text of violations) console.log(`  violation: ${text}`);
  return violations.length === 0;
}

async function rollOut(
  command: Extract<Command, { kind: "rollouts" }>,
  took: () => string,
): Promise<boolean> {
  console.log(command.old === undefined ? "both versions: these sources" : `old version: ${command.old}`);
  const onRollout = (rollouts: number) => {
    if (rollouts % RUNS_PER_LINE === 0) console.log(`  ${rollouts} of ${command.rollouts}, ${took()}`);
  };
  const result = await runRollouts({ ...command, onRollout });
  const lines: Line[] = [
    ["rollouts, in turn to the new version and back", command.rollouts],
    ["objects that were reset by them", result.reset],
    ["kills in between", result.kills],
    ["calls of the old and of the new producer", `${result.orders.old} and ${result.orders.new}`],
  ];
  return conclude(result, lines, took());
}

async function changeShards(
  command: Extract<Command, { kind: "shards" }>,
  took: () => string,
): Promise<boolean> {
  const onKill = (kills: number) => {
    if (kills % RUNS_PER_LINE === 0) console.log(`  ${kills} of ${command.kills}, ${took()}`);
  };
  const open = () => ShardsScenario.open(command.seed);
  const result = await runKills({ ...command, open, storedMin: SHARDS_STORED_MIN, onKill });
  const lines: Line[] = [
    ["kills survived", command.kills],
    ["changes of a number of shards", result.changes],
    ["requests to the endpoint", result.pushed],
    ["  of these for what was done before a kill", result.repeated],
    ...Object.entries(result.openMax).map(([queue, open]): Line => [`  open at a time, of ${queue}`, open]),
  ];
  return conclude(result, lines, took());
}

async function runScenario<S extends Summary | SqsSummary>(
  command: Exclude<
    Command,
    { kind: "damage" | "syncs" | "alerts" | "power" | "adopt" | "rollouts" | "shards" }
  >,
  open: OpenScenario<S>,
  took: () => string,
): Promise<boolean> {
  switch (command.kind) {
    case "kills": {
      const onKill = (kills: number) => {
        if (kills % KILLS_PER_LINE === 0) console.log(`  ${kills} of ${command.kills}, ${took()}`);
      };
      const result = await runKills({ ...command, open, onKill });
      return conclude(result, [["kills survived", command.kills]], took());
    }
    case "swaps": {
      const onSwap = (swaps: number) => console.log(`  ${swaps} of ${command.swaps}, ${took()}`);
      const result = await runSqsSwaps({ ...command, onSwap });
      return conclude(result, [["epochs, in turn on Node.js and workerd", command.swaps]], took());
    }
    case "freezes": {
      const onThaw = (freezes: number, frozenMs: number) => console.log(`  ${freezes}: ${frozenMs} ms`);
      const result = await runFreezes({ ...command, open, onThaw });
      const frozen: Line = ["time stopped", `${Math.round(result.frozenMs / 1000)} s`];
      return conclude(result, [["stops", command.freezes], frozen], took());
    }
    case "disk-full": {
      const onTime = (times: number, refused: number) => console.log(`  ${times}: ${refused} refused`);
      const killedShare = command.broker === "sqs" ? SQS_KILLED_SHARE : 0;
      const result = await runDiskFull({ ...command, open, killedShare, onTime });
      const lines: Line[] = [
        ["times full", command.times],
        ["  and taken up again when there was room", result.resumed],
        ["the process ended by itself", result.hasEnded ? "yes" : "no"],
        ...result.refusals.map((text): Line => ["refused with", text]),
      ];
      return conclude(result, lines, took()) && result.resumed === command.times && !result.hasEnded;
    }
  }
}

function conclude<S extends (Summary | SqsSummary) & Tally>(
  result: Ended<S>,
  first: readonly Line[],
  took: string,
): boolean {
  const { isDrained, lines, lost, violations, violationTexts } = result;
  console.log(
    table([
      ...first,
      ["queues empty at the end", isDrained ? "yes" : "no"],
      ["lines about damage or errors", lines.length],
      ["took", took],
      ...summaryLines(result),
    ]),
  );
  for (const text of violationTexts) console.log(`  violation: ${text}`);
  for (const line of lines.slice(0, 20)) console.log(`  printed: ${line}`);
  return lost === 0 && violations === 0 && isDrained && lines.length === 0;
}
