import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { type Guard, startGuard } from "@sluice/project/wrangler/guard";
import { WORKERD_ARGUMENT } from "./workerd-process.ts";

let guard: Guard | null = null;

/**
 * Ends each workerd that this process or thread starts from now on together with it. Miniflare ends workerd by exit
 * handlers, which do not run when the process is killed, nor for the thread in which Nitro runs a server. A broker that
 * is left behind would write to data that another process has taken over.
 */
export function guardWorkerd(): void {
  if (guard !== null) return;
  const started = startGuard();
  guard = started;
  subscribe("child_process", (message) => {
    const { process: child } = message as { process: ChildProcess };
    child.once("spawn", () => {
      const { pid } = child;
      if (pid === undefined || !child.spawnargs.includes(WORKERD_ARGUMENT)) return;
      started.add(pid);
      child.once("exit", () => started.drop(pid));
    });
  });
}
