import type { HistoryReport } from "./history/history.ts";
import type { SoakTotals } from "./soak.ts";

/** Lines of its log that a failing history is printed with. */
const TAIL_LINES = 60;

const whole = (value: number) => Math.floor(value).toLocaleString("en-US");

/** One line while a run is under way. */
export function showProgress({ histories, events, violations, ms }: SoakTotals): string {
  const perSecond = whole((1_000 * histories) / ms);
  return `${whole(histories)} histories, ${whole(events)} events, ${perSecond} histories/s, ${violations.length} violations`;
}

/** Everything that a run has to say for itself. */
export function showTotals(totals: SoakTotals): string {
  const { histories, events, eventsMax, violations, ms } = totals;
  return [
    `${whole(histories)} histories in ${whole(ms / 1_000)} s: ${whole((1_000 * histories) / ms)} histories/s`,
    `${whole(events)} events, ${whole(events / histories)} a history, ${whole(eventsMax)} in the longest`,
    table("what came of the messages, in all queues", totals.outcomes),
    table("faults", totals.faults),
    `${violations.length} violations`,
  ].join("\n");
}

/** What is needed to look into a failing history: where the sources stand, how to see it again, and how it ended. */
export function showViolation(report: HistoryReport, commit: string, lines: readonly string[]): string {
  const { seed, violation } = report;
  if (violation === null) return `seed ${seed} went well`;
  return [
    `VIOLATION of "${violation.property}" by queue "${violation.queue}" in event ${violation.event}:`,
    `  ${violation.text}`,
    `  seed ${seed}, commit ${commit}; again with: pnpm soak --seed ${seed}`,
    ...lines.slice(-TAIL_LINES),
  ].join("\n");
}

function table(title: string, rows: Readonly<Record<string, number>>): string {
  const lines = Object.entries(rows).map(([name, count]) => `  ${whole(count).padStart(14)}  ${name}`);
  return [`${title}:`, ...lines].join("\n");
}
