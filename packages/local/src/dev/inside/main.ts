import { isMainThread } from "node:worker_threads";
import { attach } from "./attach.ts";
import type { FromInside, InsideSettings } from "./contract.ts";

/** Runs in Wrangler's process before Wrangler does, where that is a process of its own. */
export function prepare(settings: InsideSettings): void {
  // Threads get the arguments of Node.js too.
  if (!isMainThread) return;
  attach(settings, tell);
  endWithParent();
}

function tell(message: FromInside): void {
  if (process.connected) process.send?.(message);
}

/**
 * Wrangler stops workerd when it is told to stop; if the process that started it is killed outright nobody tells it,
 * but the channel between them closes and this process gets another parent, and then it tells itself. Wrangler closes
 * the channel too when it ends by itself, and must not be disturbed then.
 */
function endWithParent(): void {
  const parent = process.ppid;
  const stopIfAlone = () => process.ppid === parent || process.kill(process.pid, "SIGTERM");
  process.on("disconnect", () => setTimeout(stopIfAlone, 200).unref());
  process.channel?.unref();
}
