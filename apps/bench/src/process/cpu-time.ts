import { readdir, readFile } from "node:fs/promises";

/** A process as the kernel reports it. */
export interface ProcessTimes {
  readonly pid: number;
  readonly parent: number;
  /** CPU ticks of itself and of those of its children that have ended. */
  readonly ticks: number;
}

/** Length of a tick of `/proc/PID/stat` on Linux, in ms; USER_HZ has been 100 on every machine that Node runs on. */
export const TICK_MS = 10;

/**
 * CPU time that processes and all their descendants have used so far, user and system, in ms. `null` where there is no
 * `/proc`.
 */
export async function cpuMs(roots: readonly number[]): Promise<number | null> {
  const names = await readdir("/proc").catch(() => null);
  if (names === null) return null;
  const stats = await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      .map((name) => readFile(`/proc/${name}/stat`, "utf8").catch(() => "")),
  );
  const processes = stats.map(parseStat).filter((times) => times !== null);
  return TICK_MS * ticksOfTree(processes, roots);
}

/** A line of `/proc/PID/stat`; `null` for one of a process that is gone. */
export function parseStat(line: string): ProcessTimes | null {
  // The name stands in parentheses and may contain anything, parentheses too.
  const match = /^(\d+) \(.*\) (.*)$/s.exec(line.trim());
  if (match === null) return null;
  const [, pid = "", rest = ""] = match;
  const fields = rest.split(" ");
  // Fields 14 to 17 of the line: utime, stime, cutime, cstime. The third field is the first of `rest`.
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { pid: Number(pid), parent: Number(fields[1]), ticks };
}

export function ticksOfTree(processes: readonly ProcessTimes[], roots: readonly number[]): number {
  const tree = new Set(roots);
  for (let size = -1; size !== tree.size; ) {
    size = tree.size;
    for (const { pid, parent } of processes) if (tree.has(parent)) tree.add(pid);
  }
  return processes.reduce((sum, { pid, ticks }) => sum + (tree.has(pid) ? ticks : 0), 0);
}
