import { threeDigits } from "../report/figures.ts";
import { markdownTable } from "../report/markdown-table.ts";
import type { ProfiledIsolate } from "./profile.ts";
import { busyTime, topSelfTimes } from "./self-time.ts";

const MOST = 25;

export function profileTables(profiled: readonly ProfiledIsolate[]): string {
  return profiled
    .map(({ title, measured, profile, findSource, file }) => {
      const { runningMs, otherMs } = busyTime(profile);
      const rows = topSelfTimes(profile, MOST, findSource).map(({ name, place, selfMs, share }) => [
        name,
        place,
        threeDigits(selfMs),
        `${(100 * share).toFixed(1)}%`,
        threeDigits((1000 * selfMs) / measured.messages),
      ]);
      return [
        `### ${title}`,
        "",
        `${measured.messages} messages, JavaScript ran ${threeDigits(runningMs)} ms, other ${threeDigits(otherMs)} ms; ${file}`,
        "",
        markdownTable(["function", "place", "self ms", "share", "µs/message"], rows, 2),
      ].join("\n");
    })
    .join("\n\n");
}
