import { runProgram } from "@sluice/harness/command-line";
import { commit } from "@sluice/harness/commit";
import { type Command, parseCommandLine, USAGE } from "./command-line.ts";
import type { HistoryReport } from "./history/history.ts";
import { hunt } from "./planted/hunt.ts";
import { PLANTED_BUGS } from "./planted/index.ts";
import { showProgress, showTotals, showViolation } from "./report.ts";
import { runSeed } from "./shards/run-seed.ts";
import { hasShards } from "./shards/shard-scenario.ts";
import { type SoakTotals, soak } from "./soak.ts";

/** Sources that a history depends on: a seed means something else when they change. */
const SOURCES = [
  "packages/engine/src",
  "packages/retry/src",
  "packages/broker/src",
  "packages/protocol/src",
  "packages/shards/src",
  "apps/soak/src",
  "apps/harness/src",
];

async function run(command: Command): Promise<boolean> {
  switch (command.kind) {
    case "one":
      return runOne(command.seed);
    case "planted":
      return runPlanted(command.seeds);
    case "many":
      return runMany(command);
  }
}

async function runMany({
  from,
  seeds,
  minutes,
  shards,
}: Extract<Command, { kind: "many" }>): Promise<boolean> {
  console.log(`commit ${commit(...SOURCES)}, Node ${process.version}, seeds from ${from}`);
  let latest: SoakTotals | null = null;
  process.on("SIGINT", () => {
    for (const report of latest?.violations ?? []) console.log(showViolation(report, commit(...SOURCES), []));
    if (latest !== null) console.log(showTotals(latest));
    process.exit(130);
  });
  const totals = await soak({
    from,
    seeds,
    ...(shards && { isChosen: hasShards }),
    forMs: minutes === null ? Infinity : 60_000 * minutes,
    progress: (soFar) => {
      latest = soFar;
      if (process.stderr.isTTY) process.stderr.write(`\r${showProgress(soFar)}`);
    },
  });
  if (process.stderr.isTTY) process.stderr.write("\r\u001b[K");
  for (const report of totals.violations) console.log(await tellViolation(report));
  console.log(showTotals(totals));
  return totals.violations.length === 0;
}

async function runOne(seed: number): Promise<boolean> {
  const report = await runSeed(seed, { verbose: true });
  const again = await runSeed(seed);
  console.log((report.lines ?? []).join("\n"));
  if (report.hash !== again.hash) {
    console.log(`NOT DETERMINISTIC: seed ${seed} went ${report.hash} and then ${again.hash}`);
    return false;
  }
  console.log(`${report.events} events, hash ${report.hash}, the same when it is run again`);
  if (report.violation !== null) console.log(showViolation(report, commit(...SOURCES), []));
  return report.violation === null;
}

async function runPlanted(seeds: number): Promise<boolean> {
  let isComplete = true;
  for (const bug of PLANTED_BUGS) {
    const found = await hunt(bug, seeds);
    isComplete &&= found !== null;
    const histories = found === null ? `not in ${seeds}` : `${found.seed}`;
    console.log(`${histories.padStart(6)}  ${bug.property.padEnd(22)}  ${bug.name}`);
  }
  return isComplete;
}

async function tellViolation(report: HistoryReport): Promise<string> {
  const { lines } = await runSeed(report.seed, { verbose: true });
  return showViolation(report, commit(...SOURCES), lines ?? []);
}

process.on("unhandledRejection", (error: unknown) => {
  console.error("A promise of a history was rejected and nobody caught it:", error);
  process.exit(1);
});

await runProgram({ usage: USAGE, parse: parseCommandLine, run });
