import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { createRequire } from "node:module";
import { nearestExisting } from "@sluice/project/folders";
import { showConsoleThrough } from "./console.ts";
import type { FromInside, InsideSettings } from "./contract.ts";
import { endOnCtrlC } from "./ctrl-c.ts";
import { tellOfWorkerd } from "./workerd.ts";
import { isSocketInUse, type LineFilter, type LinesContext, wranglerLines } from "./wrangler-lines.ts";

/** Hooks in the process that Wrangler runs in. */
export interface Attached {
  /** Tells the lines of another Wrangler apart from now on. */
  show(lines: LinesContext): void;
}

/** Shows what Wrangler says as it would be without Sluice, and tells of what it starts. Once in a process. */
export function attach(settings: InsideSettings, tell: (message: FromInside) => void): Attached {
  keepWorkingDirectory(settings.lines.workingDirectory);
  startWordsOfEsbuild(settings.wrangler);
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

/** Keeps Wrangler going when its folder is deleted: such a folder has no name, and asking for it throws. */
function keepWorkingDirectory(folder: string): void {
  const cwd = process.cwd.bind(process);
  process.cwd = () => {
    try {
      return cwd();
    } catch {
      process.chdir(nearestExisting(folder));
      return cwd();
    }
  };
}

/**
 * Starts the thread in which esbuild words Wrangler's warnings and errors. Started for the first of them while the
 * folder is being deleted it would die, and Wrangler wait for it for ever, with all keys unread.
 */
function startWordsOfEsbuild(wrangler: string): void {
  const esbuild: { formatMessagesSync(messages: readonly never[], options: { kind: "error" }): unknown } =
    createRequire(wrangler)("esbuild");
  esbuild.formatMessagesSync([], { kind: "error" });
}

/**
 * Reports the start and end of child processes, so that the process which ends this one can end them too, even if
 * nothing here gets to do so.
 */
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
