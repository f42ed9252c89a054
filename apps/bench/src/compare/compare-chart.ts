import { type BarKind, chartSvg } from "../report/chart.ts";
import { count } from "../report/figures.ts";
import type { Way } from "../workload/ways.ts";
import type { Comparison } from "./compare.ts";

/** Cases that are about rates; of the burst it is the handled messages that count. */
const SHOWN: ReadonlySet<Way> = new Set(["single", "concurrent50", "requests50", "batch100", "burst"]);

/** The rates of a comparison as bars: a panel per case, a bar per system. */
export function compareChart(comparisons: readonly Comparison[], subtitle: string): string {
  const shown = comparisons.filter(({ testCase }) => SHOWN.has(testCase.way));
  const titles = [...new Set(shown.map(({ testCase }) => testCase.title))];
  return chartSvg({
    title: "Messages a second",
    subtitle,
    legend: [
      { kind: "ours", text: "Sluice: acknowledged on disk" },
      { kind: "commit", text: "acknowledged on disk" },
      { kind: "page cache", text: "acknowledged in page cache" },
      { kind: "memory", text: "acknowledged in memory" },
    ],
    format: count,
    panels: titles.map((title) => ({
      title,
      bars: shown
        .filter(({ testCase }) => testCase.title === title)
        .map((comparison) => ({
          label: comparison.system.name,
          value: rateOf(comparison),
          kind: kindOf(comparison),
        })),
    })),
  });
}

function rateOf({ testCase, outcome }: Comparison): number | null {
  if (outcome.kind === "failed") return null;
  return testCase.way === "burst" ? outcome.summary.handledPerSecond : outcome.summary.sentPerSecond;
}

function kindOf({ system }: Comparison): BarKind {
  return system.id === "sluice" ? "ours" : system.acknowledged;
}
