import type { Comparison } from "../compare/compare.ts";
import { type BarKind, chartSvg } from "../report/chart.ts";
import { count } from "../report/figures.ts";
import { rateOf } from "../workload/run.ts";
import type { SqsWay } from "./sqs-cases.ts";

/** The rates of a comparison as bars: a panel per case, a bar per server and client. */
export function sqsChart(comparisons: readonly Comparison<SqsWay>[], subtitle: string): string {
  const titles = [...new Set(comparisons.map(({ testCase }) => testCase.title))];
  return chartSvg({
    title: "SQS: messages a second",
    subtitle,
    legend: [
      { kind: "ours", text: "Sluice: answered from disk" },
      { kind: "commit", text: "answered from disk" },
      { kind: "memory", text: "answered from memory" },
    ],
    format: count,
    panels: titles.map((title) => ({
      title: title.replace(/^SQS: /, ""),
      bars: comparisons
        .filter(({ testCase }) => testCase.title === title)
        .map((comparison) => ({
          label: comparison.system.name,
          value: comparison.outcome.kind === "failed" ? null : rateOf(comparison.outcome.summary),
          kind: kindOf(comparison),
        })),
    })),
  });
}

function kindOf({ system }: Comparison<SqsWay>): BarKind {
  return system.id.startsWith("sluice") ? "ours" : system.acknowledged;
}
