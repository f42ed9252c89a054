import { figure, table } from "@sluice/harness/report";
import type { HistoryReport } from "./history/history.ts";
import type { SoakTotals } from "./soak.ts";

/** Lines of its log that a failing history is printed with. */
const TAIL_LINES = 60;

/** One line while a run is under way. */
export function showProgress({ histories, events, violations, ms }: SoakTotals): string {
  const perSecond = figure((1_000 * histories) / ms);
  return (
    `${figure(histories)} histories, ${figure(events)} events, ${perSecond} histories/s, ` +
    `${violations.length} violations`
  );
}

/** Report of a whole run. */
export function showTotals(totals: SoakTotals): string {
  const { histories, events, eventsMax, violations, ms } = totals;
  return [
    `${figure(histories)} histories in ${figure(ms / 1_000)} s: ${figure((1_000 * histories) / ms)} histories/s`,
    `${figure(events)} events, ${figure(events / histories)} a history, ${figure(eventsMax)} in the longest`,
    "what came of the messages, in all queues:",
    table(Object.entries(totals.outcomes)),
    "faults:",
    table(Object.entries(totals.faults)),
    `${violations.length} violations`,
  ].join("\n");
}

/**
 * Describes a failing history for an investigation: the state of the sources, the command that repeats it, and its end.
 */
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
