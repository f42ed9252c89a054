import { threeDigits } from "../report/figures.ts";
import { markdownTable } from "../report/markdown-table.ts";
import type { ProfiledCase } from "./profile.ts";
import { busyTime, type FindSource, topSelfTimes } from "./self-time.ts";

const MOST = 25;

export function profileTables(profiled: readonly ProfiledCase[]): string {
  return profiled
    .flatMap(({ testCase, measured, profiles, sourceMaps, files }) =>
      (["broker", "driver"] as const).map((worker) => {
        const { runningMs, otherMs } = busyTime(profiles[worker]);
        const findSource: FindSource = (line, column) => {
          const entry = sourceMaps[worker].findEntry(line, column);
          return "originalSource" in entry ? { file: entry.originalSource, line: entry.originalLine } : null;
        };
        const rows = topSelfTimes(profiles[worker], MOST, findSource).map(
          ({ name, place, selfMs, share }) => [
            name,
            place,
            threeDigits(selfMs),
            `${(100 * share).toFixed(1)}%`,
            threeDigits((1000 * selfMs) / measured.messages),
          ],
        );
        return [
          `### ${testCase.title}: ${worker}`,
          "",
          `${measured.messages} messages, JavaScript ran ${threeDigits(runningMs)} ms, other ${threeDigits(otherMs)} ms; ${files[worker]}`,
          "",
          markdownTable(["function", "place", "self ms", "share", "µs/message"], rows, 2),
        ].join("\n");
      }),
    )
    .join("\n\n");
}
