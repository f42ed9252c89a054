import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";

/**
 * Ends each esbuild with this process. One whose build is under way when its reader is gone prints a page of its
 * goroutines to the terminal.
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
