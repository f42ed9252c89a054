import { count } from "../report/figures.ts";
import { markdownTable } from "../report/markdown-table.ts";
import type { Starts } from "./measure-starts.ts";

const HEADER = ["command", "first answer s", "first message handled s", "reload s", "memory MB"];

/** The medians, and how the commands compare where there are two. */
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
      : [["ratio", ...all(ours).map((figure, i) => (figure / (all(theirs)[i] ?? Number.NaN)).toFixed(2))]];
  return markdownTable(HEADER, [...rows, ...ratios]);
}

function times({ readyMs, handledMs, reloadMs }: Omit<Starts, "command">): number[] {
  return [readyMs, handledMs, reloadMs];
}

function all(starts: Starts): number[] {
  return [...times(starts), starts.residentBytes ?? Number.NaN];
}
