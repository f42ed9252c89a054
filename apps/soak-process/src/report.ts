import type { Summary } from "./ledger/summary.ts";

/** A figure and what it counts. */
export type Line = readonly [what: string, figure: string | number];

/** Prints figures below each other. */
export function table(lines: readonly Line[]): string {
  const width = Math.max(...lines.map(([what]) => what.length));
  return lines.map(([what, figure]) => `  ${what.padEnd(width)}  ${format(figure)}`).join("\n");
}

/** What every run reports. */
export function summaryLines(summary: Summary): Line[] {
  return [
    ["messages sent", summary.sent],
    ["acknowledged to their producer", summary.acknowledged],
    ["acknowledged and lost", summary.lost],
    ["refused with an error", summary.refused],
    ["not answered", summary.unanswered],
    ["  of these stored all the same", summary.unansweredButStored],
    ["moved to the dead-letter queue", summary.deadLettered],
    ...Object.entries(summary.duplicates).map(([cause, count]): Line => [`delivered twice: ${cause}`, count]),
    ["  oldest acknowledgement that was lost, before the kill", `${summary.oldestLostAckMs} ms`],
    ["violations (delays, attempts, acknowledgements, bodies)", summary.violations],
  ];
}

function format(figure: string | number): string {
  return typeof figure === "number" ? figure.toLocaleString("en-US") : figure;
}
