import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";

/**
 * Kills each esbuild that this process has started at the end of this process. An esbuild whose reader is gone during a
 * build prints a page of goroutines to the terminal.
 *
 * @param atExit registers a function for the end of the process.
 */
export function endEsbuildFirst(atExit: (end: () => void) => void): void {
  const running = new Set<ChildProcess>();
  subscribe("child_process", (message) => {
    const { process: child } = message as { process: ChildProcess };
    child.once("spawn", () => {
      if (!/esbuild(?:\.exe)?$/.test(child.spawnfile)) return;
      running.add(child);
      child.once("exit", () => running.delete(child));
    });
  });
  atExit(() => {
    for (const child of running) child.kill("SIGKILL");
  });
}
