import { createHash } from "node:crypto";
import { accessSync, constants, mkdtempSync, readdirSync, realpathSync, statfsSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { removePath } from "@sluice/project/folders";
import { isRunning, pidNamespace } from "@sluice/project/processes";

/** Folder of files in memory on Linux. */
const MEMORY_FOLDER = "/dev/shm";
/** Least free space of that folder, in bytes: some containers have only 64 MB of it. */
const FREE_BYTES_MIN = 256 * 2 ** 20;
/** Matches the name of a folder: the id of its process, and the place where that id is valid (`placeOfProcesses`). */
const OWNED = /^sluice-testing-(?:data-)?(\d+)-([0-9a-f]{8})-/;

/** Makes a folder for generated files. Its path, on which Wrangler and Node.js agree, has no links or short names. */
export function temporaryFolder(): string {
  return newFolder(realpathSync.native(tmpdir()), "sluice-testing-");
}

/** Makes a folder for stored data: in memory where there is room, since no test needs the disk's sync. */
export function dataFolder(): string {
  return newFolder(isInMemoryPossible() ? MEMORY_FOLDER : tmpdir(), "sluice-testing-data-");
}

/** Makes a folder named after this process, and deletes those that ended processes left behind. */
function newFolder(parent: string, prefix: string): string {
  const here = placeOfProcesses();
  for (const name of readdirSync(parent)) {
    const [, pid, place] = OWNED.exec(name) ?? [];
    if (place !== here || isRunning(Number(pid))) continue;
    try {
      removePath(join(parent, name));
    } catch {
      // The folder is another user's, or another process deletes it too.
    }
  }
  return mkdtempSync(join(parent, `${prefix}${process.pid}-${here}-`));
}

/** Identifies the machine and PID namespace. Containers that share a folder do not see each other's processes. */
function placeOfProcesses(): string {
  return createHash("sha256")
    .update(`${hostname()} ${pidNamespace() ?? ""}`)
    .digest("hex")
    .slice(0, 8);
}

function isInMemoryPossible(): boolean {
  try {
    accessSync(MEMORY_FOLDER, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
    return bavail * bsize >= FREE_BYTES_MIN;
  } catch {
    return false;
  }
}
