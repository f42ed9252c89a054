import type { Command, SqsCommand } from "./command-line.ts";
import { damageLines, describeCase } from "./damage/report.ts";
import type { DamageOptions } from "./damage/run-cases.ts";
import { type Line, table } from "./report.ts";
import { runSqsDamage } from "./runs/sqs-damage.ts";
import { runSqsDiskFull } from "./runs/sqs-disk-full.ts";
import { runSqsFreezes } from "./runs/sqs-freezes.ts";
import { runSqsKills } from "./runs/sqs-kills.ts";
import { runSqsSwaps } from "./runs/sqs-swaps.ts";
import type { SqsSummary } from "./sqs/sqs-summary.ts";

/** A line of progress after this many kills. */
const KILLS_PER_LINE = 50;

export function isSqsCommand(command: Command): command is SqsCommand {
  return command.kind.startsWith("sqs-");
}

/** Carries out a command on the broker alone and prints its figures. Answers whether everything was as it must be. */
export async function runSqsCommand(command: SqsCommand): Promise<boolean> {
  const startMs = Date.now();
  switch (command.kind) {
    case "sqs-kills": {
      const onKill = (kills: number) => {
        if (kills % KILLS_PER_LINE === 0) console.log(`  ${kills} of ${command.kills}, ${seconds(startMs)}`);
      };
      const result = await runSqsKills({ ...command, onKill });
      return conclude(result, [["kills survived", result.kills]], startMs);
    }
    case "sqs-damage": {
      const onCase: DamageOptions["onCase"] = (number, each) => console.log(describeCase(number, each));
      const cases = await runSqsDamage({ ...command, onCase });
      console.log(table([...damageLines(cases), ["took", seconds(startMs)]]));
      return cases.every(({ violations }) => violations.length === 0);
    }
    case "sqs-swaps": {
      const onSwap = (swaps: number) => console.log(`  ${swaps} of ${command.swaps}, ${seconds(startMs)}`);
      const result = await runSqsSwaps({ ...command, onSwap });
      return conclude(result, [["lives, in turn on Node.js and workerd", result.swaps]], startMs);
    }
    case "sqs-freezes": {
      const onThaw = (freezes: number, frozenMs: number) => console.log(`  ${freezes}: ${frozenMs} ms`);
      const result = await runSqsFreezes({ ...command, onThaw });
      const frozen: Line = ["time stopped", `${Math.round(result.frozenMs / 1000)} s`];
      return conclude(result, [["stops", result.freezes], frozen], startMs);
    }
    case "sqs-disk-full": {
      const onTime = (times: number, refused: number) => console.log(`  ${times}: ${refused} calls refused`);
      const result = await runSqsDiskFull({ ...command, onTime });
      const lines: Line[] = [
        ["times full", result.times],
        ["  and taken up again when there was room", result.resumed],
        ["the process ended by itself", result.hasEnded ? "yes" : "no"],
        ...result.refusals.map((text): Line => ["refused with", text]),
      ];
      // What is printed of a full disk is expected.
      const isGood = conclude({ ...result, lines: [] }, lines, startMs);
      return isGood && result.resumed === result.times && !result.hasEnded;
    }
  }
}

interface Ended extends SqsSummary {
  readonly isDrained: boolean;
  readonly lines: readonly string[];
}

function conclude(result: Ended, first: readonly Line[], startMs: number): boolean {
  console.log(
    table([
      ...first,
      ["queues empty at the end", result.isDrained ? "yes" : "no"],
      ["lines about damage or errors", result.lines.length],
      ["took", seconds(startMs)],
      ["messages sent", result.sent],
      ["acknowledged to their producer", result.acknowledged],
      ["acknowledged and lost", result.lost],
      ["calls refused", result.refused],
      ["not answered", result.unanswered],
      ["  of these stored all the same", result.unansweredButStored],
      ["sent again with their deduplication id", result.resent],
      ["received", result.received],
      ["deleted for good", result.deleted],
      ...Object.entries(result.again).map(([why, count]): Line => [`came again: ${why}`, count]),
      ["answers overtaken by those of a later receive", result.late],
      ["violations (deletions, leases, order, delays, counts, bodies)", result.violations],
    ]),
  );
  for (const text of result.violationTexts) console.log(`  violation: ${text}`);
  for (const line of result.lines.slice(0, 20)) console.log(`  printed: ${line}`);
  return result.lost === 0 && result.violations === 0 && result.isDrained && result.lines.length === 0;
}

function seconds(sinceMs: number): string {
  return `${Math.round((Date.now() - sinceMs) / 1000)} s`;
}
