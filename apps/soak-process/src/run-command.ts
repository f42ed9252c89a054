import type { Command } from "./command-line.ts";
import type { Summary } from "./ledger/summary.ts";
import { type Line, summaryLines, table } from "./report.ts";
import { runFreezes } from "./runs/freezes.ts";
import { runKills } from "./runs/kills.ts";

/** A line of progress after this many kills. */
const KILLS_PER_LINE = 50;

/** Carries a command out and prints its figures. Answers whether everything was as it must be. */
export async function runCommand(command: Command): Promise<boolean> {
  const startMs = Date.now();
  console.log(`${command.kind}, seed ${command.seed}`);
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
  }
}

interface Ended extends Summary {
  readonly isDrained: boolean;
  readonly damageLines: readonly string[];
}

function ending({ isDrained, damageLines }: Ended, startMs: number): Line[] {
  return [
    ["queues empty at the end", isDrained ? "yes" : "no"],
    ["lines about damage", damageLines.length],
    ["took", `${Math.round((Date.now() - startMs) / 1000)} s`],
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
