import { createRequire } from "node:module";
import { nearestExisting } from "@sluice/project/folders";
import { showConsoleThrough } from "../../report/console.ts";
import type { FromInside, InsideSettings } from "./contract.ts";
import { endOnCtrlC } from "./ctrl-c.ts";
import { keepEsbuildThread } from "./esbuild-thread.ts";
import { failedBuilds } from "./failed-builds.ts";
import { failedLoads } from "./failed-load.ts";
import { leaveLinesUnrequested } from "./inspector-lines.ts";
import { lastBuilds } from "./last-build.ts";
import { answerHealth } from "./patient-health.ts";
import { mapFilesAlone } from "./source-maps.ts";
import { leaveUntraced } from "./untraced.ts";
import { giveUnwritten } from "./unwritten.ts";
import { tellOfWorkerd } from "./workerd.ts";
import { listenToWrangler, type WranglerParts } from "./wrangler-events.ts";
import { isSocketInUse, wranglerLines } from "./wrangler-lines.ts";

export { write } from "../../generation/write.ts";

/** Exit code when nobody reads the output: that of SIGHUP, by which a closed terminal ends a process. */
const EXIT_UNREAD = 129;

/**
 * Prepares Wrangler's process before `wrangler dev` runs in it: filters the lines that it prints, reports the events of
 * its workerd and builds to the parent process, and works around the faults that each called function describes.
 */
export function prepare({ lines, workerdMark, wrangler }: InsideSettings): void {
  keepWorkingDirectory(lines.workingDirectory);
  keepEsbuildThread();
  mapFilesAlone();
  leaveUntraced(lines.broker, wrangler);
  giveUnwritten(lines.broker, wrangler);
  leaveLinesUnrequested(wrangler);
  answerHealth(wrangler);
  tellOfWorkerd(workerdMark, tell);
  const parts = createRequire(wrangler)(wrangler) as WranglerParts;
  const loads = failedLoads({ root: lines.workingDirectory, ownSources: lines.ownSources, tell });
  listenToWrangler(parts, [loads], failedBuilds(wrangler, tell), lastBuilds(tell));
  endOnCtrlC(process);
  const filter = wranglerLines(lines);
  showConsoleThrough(console, (message) => {
    if (isSocketInUse(message, lines.askedPorts)) tell({ kind: "socket-in-use" });
    return filter(message);
  });
  // Ends at the first failed write: Wrangler prints an error for each, whose lines would fail in turn.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", () => process.exit(EXIT_UNREAD));
  }
}

function tell(event: FromInside["sluice"]): void {
  process.send?.({ sluice: event } satisfies FromInside);
}

/** Keeps Wrangler running when its working directory is deleted, which makes `process.cwd` throw. */
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
