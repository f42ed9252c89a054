import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Held while an archive is made: that builds into the package's own `dist`, which others may be packing. */
const LOCK = join(tmpdir(), "sluice-packing");
/** A lock that is as old was left behind by a test that was killed, in ms. */
const LOCK_AGE_MS_MAX = 120_000;

/**
 * Packs a package of this repository as it is published, one at a time.
 *
 * @param directory of the package.
 * @param folder that gets the archive, and has no other.
 * @returns the archive.
 */
export function packed(directory: string, folder: string): string {
  while (!locked()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  try {
    const args = ["-y", "pnpm@12.21.0", "pack", "--pack-destination", folder];
    execFileSync("npx", args, { cwd: directory, stdio: ["ignore", "ignore", "inherit"] });
  } finally {
    rmdirSync(LOCK);
  }
  const [archive] = readdirSync(folder).filter((file) => file.endsWith(".tgz"));
  if (archive === undefined) throw new Error(`nothing was packed of ${directory}`);
  return join(folder, archive);
}

function locked(): boolean {
  try {
    mkdirSync(LOCK);
    return true;
  } catch {
    const made = statSync(LOCK, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - made > LOCK_AGE_MS_MAX) rmdirSync(LOCK);
    return false;
  }
}
