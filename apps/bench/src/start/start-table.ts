import { count } from "../report/figures.ts";
import { markdownTable } from "../report/markdown-table.ts";
import type { Starts } from "./measure-starts.ts";

const HEADER = ["command", "first answer s", "first message handled s", "reload s", "memory MB"];

/** Makes the table of the medians, with the ratio of the first two commands. */
export function startTable(starts: readonly Starts[]): string {
  const rows = starts.map(({ command, ...figures }) => [
    command,
    ...times(figures).map((ms) => (ms / 1_000).toFixed(2)),
    figures.residentBytes === null ? "-" : count(figures.residentBytes / 1_000_000),
  ]);
  const [ours, theirs] = starts;
  const ratios =
    ours === undefined || theirs === undefined
      ? []
      : [
          [
            "ratio",
            ...figuresOf(ours).map((figure, i) => (figure / (figuresOf(theirs)[i] ?? Number.NaN)).toFixed(2)),
          ],
        ];
  return markdownTable(HEADER, [...rows, ...ratios]);
}

function times({ readyMs, handledMs, reloadMs }: Omit<Starts, "command">): number[] {
  return [readyMs, handledMs, reloadMs];
}

function figuresOf(starts: Starts): number[] {
  return [...times(starts), starts.residentBytes ?? Number.NaN];
}
