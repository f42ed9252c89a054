import { createHash } from "node:crypto";
import {
  accessSync,
  constants,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statfsSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";

/** Where Linux keeps files in memory. */
const MEMORY_FOLDER = "/dev/shm";
/** Least free space that the folder has to have, in bytes: some containers have 64 MB of it. */
const FREE_BYTES_MIN = 256 * 2 ** 20;
/** Folders by the process that has them, and where its number means something. */
const OWNED = /^sluice-testing-(?:data-)?(\d+)-([0-9a-f]{8})-/;

/** A new folder for what is generated. Its path has no links: Wrangler and Node.js are to agree on it. */
export function temporaryFolder(): string {
  return newFolder(realpathSync(tmpdir()), "sluice-testing-");
}

/**
 * A new folder for everything that is stored: in memory where there is room, since no test wants a sync of the disk.
 */
export function dataFolder(): string {
  return newFolder(isInMemoryPossible() ? MEMORY_FOLDER : tmpdir(), "sluice-testing-data-");
}

/** Makes a folder that says whose it is, and deletes those of processes that have ended without doing so. */
function newFolder(parent: string, prefix: string): string {
  const here = placeOfProcesses();
  for (const name of readdirSync(parent)) {
    const [, pid, place] = OWNED.exec(name) ?? [];
    if (place !== here || isAlive(Number(pid))) continue;
    try {
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // Another user's, or another process is at it.
    }
  }
  return mkdtempSync(join(parent, `${prefix}${process.pid}-${here}-`));
}

/** Machine and PID namespace. Containers that share a folder do not know each other's processes. */
function placeOfProcesses(): string {
  let namespace = "";
  try {
    namespace = readlinkSync("/proc/self/ns/pid");
  } catch {
    // Only Linux has some.
  }
  return createHash("sha256").update(`${hostname()} ${namespace}`).digest("hex").slice(0, 8);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // There is one that we may not signal, unless there is none.
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
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
