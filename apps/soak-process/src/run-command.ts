import type { Command } from "./command-line.ts";
import { commit } from "./commit.ts";
import { damageLines, describeCase } from "./damage/report.ts";
import type { DamageOptions } from "./damage/run-cases.ts";
import type { Summary } from "./ledger/summary.ts";
import { type Line, summaryLines, table } from "./report.ts";
import { isSqsCommand, runSqsCommand } from "./run-sqs-command.ts";
import { runDamage } from "./runs/damage.ts";
import { runDiskFull } from "./runs/disk-full.ts";
import { runFreezes } from "./runs/freezes.ts";
import { runKills } from "./runs/kills.ts";

/** A line of progress after this many kills. */
const KILLS_PER_LINE = 50;

/** Carries a command out and prints its figures. Answers whether everything was as it must be. */
export async function runCommand(command: Command): Promise<boolean> {
  const startMs = Date.now();
  console.log(`${command.kind}, seed ${command.seed}, commit ${commit()}, ${new Date().toISOString()}`);
  if (isSqsCommand(command)) return runSqsCommand(command);
  switch (command.kind) {
    case "kills": {
      const result = await runKills({
        ...command,
        onKill: (kills) => noteKills(kills, command.kills, startMs),
      });
      return conclude(result, [["kills survived", result.kills], ...ending(result, startMs)]);
    }
    case "freezes": {
      const onThaw = (freezes: number, frozenMs: number) => console.log(`  ${freezes}: ${frozenMs} ms`);
      const result = await runFreezes({ ...command, onThaw });
      const frozen: Line = ["time stopped", `${Math.round(result.frozenMs / 1000)} s`];
      return conclude(result, [["stops", result.freezes], frozen, ...ending(result, startMs)]);
    }
    case "disk-full": {
      const onTime = (times: number, refused: number) => console.log(`  ${times}: ${refused} sends refused`);
      const result = await runDiskFull({ ...command, onTime });
      const lines: Line[] = [
        ["times full", result.times],
        ["  and taken up again when there was room", result.resumed],
        ["refused with", result.refusals.join("; ")],
      ];
      // A full disk is no damage: what is printed of it is not counted as such.
      const isGood = conclude({ ...result, damageLines: [] }, [
        ...lines,
        ...ending({ ...result, damageLines: [] }, startMs),
      ]);
      return isGood && result.resumed === result.times;
    }
    case "damage": {
      const onCase: DamageOptions["onCase"] = (number, each) => console.log(describeCase(number, each));
      const cases = await runDamage({ ...command, onCase });
      console.log(table([...damageLines(cases), ["took", seconds(startMs)]]));
      return cases.every(({ violations }) => violations.length === 0);
    }
  }
}

function seconds(sinceMs: number): string {
  return `${Math.round((Date.now() - sinceMs) / 1000)} s`;
}

interface Ended extends Summary {
  readonly isDrained: boolean;
  readonly damageLines: readonly string[];
}

function ending({ isDrained, damageLines }: Ended, startMs: number): Line[] {
  return [
    ["queues empty at the end", isDrained ? "yes" : "no"],
    ["lines about damage", damageLines.length],
    ["took", seconds(startMs)],
  ];
}

function conclude(result: Ended, lines: readonly Line[]): boolean {
  console.log(table([...lines, ...summaryLines(result)]));
  for (const text of result.violationTexts) console.log(`  violation: ${text}`);
  for (const line of result.damageLines.slice(0, 20)) console.log(`  printed: ${line}`);
  return result.lost === 0 && result.violations === 0 && result.isDrained && result.damageLines.length === 0;
}

function noteKills(kills: number, of: number, startMs: number): void {
  if (kills % KILLS_PER_LINE !== 0) return;
  console.log(`  ${kills} of ${of} kills, ${Math.round((Date.now() - startMs) / 1000)} s`);
}
