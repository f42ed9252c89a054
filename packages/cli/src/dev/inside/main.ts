import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { isMainThread } from "node:worker_threads";
import { nearestExisting } from "../../folders.ts";
import { showConsoleThrough } from "./console.ts";
import type { FromInside, InsideSettings } from "./contract.ts";
import { endOnCtrlC } from "./ctrl-c.ts";
import { tellOfWorkerd } from "./workerd.ts";
import { isSocketInUse, wranglerLines } from "./wrangler-lines.ts";

/** Runs in Wrangler's process before Wrangler does. */
export function prepare(settings: InsideSettings): void {
  // Threads get the arguments of Node.js too.
  if (!isMainThread) return;
  outliveWorkingDirectory(settings);
  endWithParent();
  reportChildren();
  tellOfWorkerd(settings.workerdMark, (event) => tell({ sluice: "workerd", event }));
  endOnCtrlC(process);
  const filter = wranglerLines(settings.lines);
  showConsoleThrough(console, (message) => {
    if (isSocketInUse(message)) tell({ sluice: "socket-in-use" });
    return filter(message);
  });
}

/**
 * Keeps Wrangler going when its folder is deleted: such a folder has no name, and asking for it throws.
 *
 * esbuild asks for it in a thread that it starts for Wrangler's first warning or error. The thread would die of it, and
 * Wrangler wait for it for ever, with all keys unread. So the thread is started while the folder is there (0.1 s).
 */
function outliveWorkingDirectory({ wrangler, lines }: InsideSettings): void {
  const cwd = process.cwd.bind(process);
  process.cwd = () => {
    if (!existsSync(lines.workingDirectory)) process.chdir(nearestExisting(lines.workingDirectory));
    return cwd();
  };
  const { formatMessagesSync } = createRequire(wrangler)("esbuild") as typeof import("esbuild");
  formatMessagesSync([{ text: "" }], { kind: "warning" });
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

/** Whoever ends this process ends what it has started, also if nothing here gets to do so. */
function reportChildren(): void {
  subscribe("child_process", (message) => {
    const { process: child } = message as { process: ChildProcess };
    child.once("spawn", () => {
      const { pid } = child;
      if (pid === undefined) return;
      tell({ sluice: "child-started", pid });
      child.once("exit", () => tell({ sluice: "child-ended", pid }));
    });
  });
}
