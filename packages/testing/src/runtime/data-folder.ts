import { accessSync, constants, mkdtempSync, realpathSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where Linux keeps files in memory. */
const MEMORY_FOLDER = "/dev/shm";
/** What has to be free there, in bytes: some containers have 64 MB of it. */
const FREE_BYTES_MIN = 256 * 2 ** 20;

/** A new folder for what is generated. Its path has no links: Wrangler and Node.js are to agree on it. */
export function temporaryFolder(): string {
  return mkdtempSync(join(realpathSync(tmpdir()), "sluice-testing-"));
}

/**
 * A new folder for everything that is stored: in memory where there is room, since no test wants a sync of the disk.
 */
export function dataFolder(): string {
  return mkdtempSync(join(isInMemoryPossible() ? MEMORY_FOLDER : tmpdir(), "sluice-testing-data-"));
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
