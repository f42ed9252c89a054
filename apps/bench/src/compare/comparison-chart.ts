import { type BarKind, chartSvg } from "../report/chart.ts";
import { count } from "../report/figures.ts";
import type { Comparison } from "./compare.ts";

const LEGEND: readonly (readonly [BarKind, string])[] = [
  ["ours", "Sluice: answered from disk"],
  ["disk", "answered from disk"],
  ["memory", "answered from memory"],
];

/** Draws the rates of a comparison as bars: a panel per case with a `shown` rate, a bar per system. */
export function comparisonChart<W extends string>(
  title: string,
  subtitle: string,
  comparisons: readonly Comparison<W>[],
): string {
  const shown = comparisons.filter(({ testCase }) => testCase.shown !== undefined);
  const titles = [...new Set(shown.map(({ testCase }) => testCase.title))];
  const kinds = new Set(shown.map(kindOf));
  return chartSvg({
    title,
    subtitle,
    format: count,
    legend: LEGEND.flatMap(([kind, text]) => (kinds.has(kind) ? { kind, text } : [])),
    panels: titles.map((each) => ({
      title: each.replace(/^SQS: /, ""),
      bars: shown
        .filter(({ testCase }) => testCase.title === each)
        .map((comparison) => ({
          label: comparison.system.name,
          value: rateIn(comparison),
          kind: kindOf(comparison),
        })),
    })),
  });
}

function rateIn<W extends string>({ testCase: { shown }, outcome }: Comparison<W>): number | null {
  if (shown === undefined || outcome.kind === "failed") return null;
  return outcome.summary[shown === "sent" ? "sentPerSecond" : "handledPerSecond"];
}

function kindOf<W extends string>({ system }: Comparison<W>): BarKind {
  return system.id.startsWith("sluice") ? "ours" : system.acknowledged;
}
