import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { existsSync } from "node:fs";
import threads from "node:worker_threads";
import { nearestExisting } from "../../folders.ts";
import { showConsoleThrough } from "./console.ts";
import type { FromInside, InsideSettings } from "./contract.ts";
import { endOnCtrlC } from "./ctrl-c.ts";
import { tellOfWorkerd } from "./workerd.ts";
import { isSocketInUse, type LineFilter, type LinesContext, wranglerLines } from "./wrangler-lines.ts";

/** What is done to the process that Wrangler runs in. */
export interface Attached {
  /** Tells the lines of another Wrangler apart from now on. */
  show(lines: LinesContext): void;
}

/** Shows what Wrangler says as it would be without Sluice, and tells of what it starts. Once in a process. */
export function attach(settings: InsideSettings, tell: (message: FromInside) => void): Attached {
  keepWorkingDirectory(settings.lines.workingDirectory);
  reportChildren(tell);
  tellOfWorkerd(settings.workerdMark, (event) => tell({ sluice: "workerd", event }));
  endOnCtrlC(process);
  let filter: LineFilter = wranglerLines(settings.lines);
  showConsoleThrough(console, (message) => {
    if (isSocketInUse(message)) tell({ sluice: "socket-in-use" });
    return filter(message);
  });
  return {
    show(lines) {
      filter = wranglerLines(lines);
    },
  };
}

/**
 * Keeps Wrangler going when its folder is deleted: such a folder has no name, and asking for it throws.
 *
 * esbuild asks for it in a thread that it starts for Wrangler's first warning or error. The thread would die of it, and
 * Wrangler wait for it for ever, with all keys unread. A thread is in the folder of its process, so that is seen to
 * before one is started.
 */
function keepWorkingDirectory(folder: string): void {
  const cwd = process.cwd.bind(process);
  process.cwd = () => {
    if (!existsSync(folder)) process.chdir(nearestExisting(folder));
    return cwd();
  };
  threads.Worker = new Proxy(threads.Worker, {
    construct(Worker, args) {
      process.cwd();
      return Reflect.construct(Worker, args);
    },
  });
}

/** Whoever ends this process ends what it has started, also if nothing here gets to do so. */
function reportChildren(tell: (message: FromInside) => void): void {
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
