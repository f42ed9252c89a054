import { count, threeDigits } from "../report/figures.ts";
import { markdownTable } from "../report/markdown-table.ts";
import type { FloorFigure } from "./measure-floor.ts";

export function floorTable(figures: readonly FloorFigure[]): string {
  return markdownTable(
    ["what", "ms each, one by one", "per second"],
    figures.map(({ title, eachMs, perSecond }) => [
      title,
      eachMs === null ? "-" : threeDigits(eachMs),
      count(perSecond),
    ]),
  );
}
