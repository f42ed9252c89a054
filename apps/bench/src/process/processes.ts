import { readdir, readFile } from "node:fs/promises";

interface Process {
  readonly pid: number;
  readonly parent: number;
}

interface ProcessTimes extends Process {
  /** CPU ticks of the process and of its children that have ended. */
  readonly ticks: number;
}

interface ProcessStatus extends Process {
  readonly residentBytes: number;
}

/** Length of a tick of `/proc/PID/stat` on Linux, in ms; USER_HZ has been 100 on every machine that Node runs on. */
const TICK_MS = 10;

/** CPU time of processes and all their descendants so far, in ms; `null` where there is no `/proc`. */
export async function cpuMs(roots: readonly number[]): Promise<number | null> {
  const processes = await readProcesses("stat", parseStat);
  return processes && TICK_MS * sum(treeOf(roots, processes), ({ ticks }) => ticks);
}

/** Resident memory of a process and all its descendants in bytes, shared pages in each; `null` without `/proc`. */
export async function residentBytesOfTree(root: number): Promise<number | null> {
  const processes = await readProcesses("status", parseStatus);
  return processes && sum(treeOf([root], processes), ({ residentBytes }) => residentBytes);
}

/** Finds processes and their descendants, given in any order. */
export function treeOf<Each extends Process>(roots: readonly number[], processes: readonly Each[]): Each[] {
  const tree = new Set(roots);
  for (const pid of tree) {
    for (const each of processes) if (each.parent === pid) tree.add(each.pid);
  }
  return processes.filter(({ pid }) => tree.has(pid));
}

/** Parses a line of `/proc/PID/stat`. `null` for the empty text of a process that is gone. */
export function parseStat(line: string): ProcessTimes | null {
  // The name stands in parentheses and may contain anything, parentheses too.
  const match = /^(\d+) \(.*\) (.*)$/s.exec(line.trim());
  if (match === null) return null;
  const [, pid = "", rest = ""] = match;
  const fields = rest.split(" ");
  // Fields 14 to 17 of the line: utime, stime, cutime, cstime. The third field is the first of `rest`.
  return { pid: Number(pid), parent: Number(fields[1]), ticks: sum(fields.slice(11, 15), Number) };
}

/** Parses `/proc/PID/status`. `null` for the empty text of a process that is gone. */
export function parseStatus(text: string): ProcessStatus | null {
  const field = (key: string) => new RegExp(`^${key}:\\s*(\\S+)`, "m").exec(text)?.[1];
  const [pid, parent] = ["Pid", "PPid"].map(field);
  if (pid === undefined || parent === undefined) return null;
  return { pid: Number(pid), parent: Number(parent), residentBytes: 1024 * Number(field("VmRSS") ?? 0) };
}

/** Reads and parses a file of `/proc/PID` for each process. `null` where there is no `/proc`. */
async function readProcesses<Each>(
  file: "stat" | "status",
  parse: (text: string) => Each | null,
): Promise<Each[] | null> {
  const names = await readdir("/proc").catch(() => null);
  if (names === null) return null;
  const texts = await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      .map((name) => readFile(`/proc/${name}/${file}`, "utf8").catch(() => "")),
  );
  return texts.map(parse).filter((each) => each !== null);
}

function sum<Each>(all: readonly Each[], of: (each: Each) => number): number {
  return all.reduce((total, each) => total + of(each), 0);
}
