import { execFileSync } from "node:child_process";

interface RunningProcess {
  readonly pid: number;
  /** Command line of the process, on most systems with its environment. */
  readonly command: string;
}

/**
 * Lists the processes of a project: those with its folder in their command line or environment. Children inherit the
 * environment, also those in a process group of their own.
 */
export function processesOf(folder: string): RunningProcess[] {
  const options = { encoding: "utf8", maxBuffer: 1 << 28 } as const;
  const lines = execFileSync("ps", ["axeww", "-o", "pid=,command="], options).split("\n");
  return lines.flatMap((line) => {
    const [, pid, command] = /^\s*(\d+) (.*)$/.exec(line) ?? [];
    return pid === undefined || command === undefined || !command.includes(folder)
      ? []
      : [{ pid: Number(pid), command }];
  });
}
