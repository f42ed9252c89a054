import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { type Guard, startGuard } from "@sluice/project/wrangler/guard";
import { WORKERD_ARGUMENT } from "./workerd-process.ts";

let guard: Guard | null = null;

/**
 * From now on each workerd that this process or thread starts ends with it. Miniflare ends it only where Node.js gets
 * to run its exit handlers: not when the process is killed outright, and not for the thread in which Nitro runs a
 * server. A broker that is left behind would go on with data that another process has taken over.
 */
export function guardWorkerd(): void {
  if (guard !== null) return;
  const its = startGuard();
  guard = its;
  subscribe("child_process", (message) => {
    const { process: child } = message as { process: ChildProcess };
    child.once("spawn", () => {
      const { pid } = child;
      if (pid === undefined || !child.spawnargs.includes(WORKERD_ARGUMENT)) return;
      its.add(pid);
      child.once("exit", () => its.drop(pid));
    });
  });
}
