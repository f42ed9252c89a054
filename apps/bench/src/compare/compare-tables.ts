import { count, millis } from "../report/figures.ts";
import { markdownTable } from "../report/markdown-table.ts";
import type { AcknowledgedIn, System } from "../systems/system.ts";
import type { Case } from "./cases.ts";
import type { Outcome, Run } from "./compare.ts";

const HEADER = [
  "system",
  "acknowledged in",
  "sent/s",
  "handled/s",
  "call ms: mean",
  "p50",
  "p99",
  "end to end ms: mean",
  "p50",
  "p99",
  "CPU µs/message",
];

/** Names and figures of a comparison. */
export interface Row {
  readonly system: { readonly name: string; readonly acknowledged: AcknowledgedIn; readonly clockMs: number };
  readonly testCase: Pick<Case, "title">;
  readonly outcome: Outcome;
}

/** Makes a table per case, with a row per system, and below it the reasons of systems that could not be measured. */
export function compareTables(rows: readonly Row[]): string {
  const titles = [...new Set(rows.map(({ testCase }) => testCase.title))];
  return titles
    .map((title) => {
      const own = rows.filter(({ testCase }) => testCase.title === title);
      const reasons = own.flatMap(({ system, outcome }) =>
        outcome.kind === "failed" ? [`- ${system.name} was not measured: ${outcome.reason}`] : [],
      );
      const table = `### ${title}\n\n${markdownTable(HEADER, own.map(cells), 2)}`;
      return [table, ...(reasons.length === 0 ? [] : [reasons.join("\n")])].join("\n\n");
    })
    .join("\n\n");
}

/** Makes the table of how each system was set up. */
export function systemsTable(
  systems: readonly Pick<System, "name" | "acknowledged" | "how">[],
  how = "batches of 100; consumer",
): string {
  return markdownTable(
    ["system", "acknowledged in", how],
    systems.map(({ name, acknowledged, how }) => [name, acknowledged, how]),
    3,
  );
}

function cells({ system, outcome }: Row): string[] {
  const head = [system.name, system.acknowledged];
  if (outcome.kind === "failed") return [...head, "not measured"];
  return [...head, ...figures(outcome.summary, system.clockMs)];
}

function figures(summary: Run, clockMs: number): string[] {
  const { call, endToEnd, cpuMicrosPerMessage } = summary;
  return [
    count(summary.sentPerSecond),
    count(summary.handledPerSecond),
    // The mean of many calls is finer than the clock that timed each.
    millis(call.meanMs),
    millis(call.p50Ms, clockMs),
    millis(call.p99Ms, clockMs),
    millis(endToEnd.meanMs),
    millis(endToEnd.p50Ms, clockMs),
    millis(endToEnd.p99Ms, clockMs),
    cpuMicrosPerMessage === null ? "-" : count(cpuMicrosPerMessage),
  ];
}
