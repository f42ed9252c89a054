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

/** Exit code where nobody reads: as when the terminal is closed, which is SIGHUP. */
const EXIT_UNREAD = 129;

/**
 * Runs in Wrangler's process before `wrangler dev` does: shows what Wrangler says as it would be without Sluice, and
 * tells of its workerd.
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
  // Each further line would be another error, and Wrangler answers an error with lines.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", () => process.exit(EXIT_UNREAD));
  }
}

function tell(event: FromInside["sluice"]): void {
  process.send?.({ sluice: event } satisfies FromInside);
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
