import type { CpuProfile } from "../lab/inspector.ts";

/** A function and the time that was spent in its own code. */
export interface SelfTime {
  readonly name: string;
  /** Where it stands: file and line, counted from 1. */
  readonly place: string;
  readonly selfMs: number;
  /** Of the time in which the isolate was running JavaScript. */
  readonly share: number;
}

type CallFrame = CpuProfile["nodes"][number]["callFrame"];

/** V8's names for time in which no function of ours ran. */
const NOT_RUNNING = new Set(["(root)", "(program)", "(idle)"]);

/** Leads from a place in a bundle to its source; both count from 0. */
export type FindSource = (line: number, column: number) => { file: string; line: number } | null;

/** The functions with the most self time, the isolate's idle time left out. */
export function topSelfTimes(profile: CpuProfile, most: number, findSource: FindSource): SelfTime[] {
  const byFunction = new Map<string, { name: string; place: string; micros: number }>();
  const microsOf = selfMicros(profile);
  let runningMicros = 0;
  for (const { id, callFrame } of profile.nodes) {
    const micros = microsOf.get(id) ?? 0;
    if (micros === 0 || NOT_RUNNING.has(callFrame.functionName)) continue;
    runningMicros += micros;
    const name = callFrame.functionName === "" ? "(anonymous)" : callFrame.functionName;
    const place = placeOf(callFrame, findSource);
    const key = `${name} ${place}:${callFrame.columnNumber}`;
    const known = byFunction.get(key) ?? { name, place, micros: 0 };
    known.micros += micros;
    byFunction.set(key, known);
  }
  return [...byFunction.values()]
    .sort((a, b) => b.micros - a.micros)
    .slice(0, most)
    .map(({ name, place, micros }) => ({
      name,
      place,
      selfMs: micros / 1000,
      share: micros / runningMicros,
    }));
}

/** Time in which the isolate ran, and in which it did not, in ms. */
export function busyTime(profile: CpuProfile): { readonly runningMs: number; readonly otherMs: number } {
  const microsOf = selfMicros(profile);
  let runningMs = 0;
  let otherMs = 0;
  for (const { id, callFrame } of profile.nodes) {
    const ms = (microsOf.get(id) ?? 0) / 1000;
    if (NOT_RUNNING.has(callFrame.functionName)) otherMs += ms;
    else runningMs += ms;
  }
  return { runningMs, otherMs };
}

/** A sample stands for the time until the next one. */
function selfMicros({ samples, timeDeltas }: CpuProfile): Map<number, number> {
  const micros = new Map<number, number>();
  samples.forEach((node, i) => {
    micros.set(node, (micros.get(node) ?? 0) + Math.max(0, timeDeltas[i + 1] ?? 0));
  });
  return micros;
}

function placeOf({ url, lineNumber, columnNumber }: CallFrame, findSource: FindSource): string {
  if (url === "") return "native";
  const source = findSource(lineNumber, columnNumber) ?? { file: url, line: lineNumber };
  return `${source.file.split("/").at(-1)}:${source.line + 1}`;
}
