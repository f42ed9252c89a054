import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, rmdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/** Folder of the archives that a run of the tests has packed. Without it each caller packs its own. */
export const ARCHIVES_VARIABLE = "SLUICE_TEST_ARCHIVES";
/** Lock held while an archive is made, which builds into the package's own `dist`. */
const LOCK = join(tmpdir(), "sluice-packing");
/** Age in ms from which a lock counts as left by a killed test. */
const LOCK_AGE_MS_MAX = 120_000;

/**
 * Packs a package of this repository as it is published. Only one process packs at a time.
 *
 * @param directory folder of the package.
 * @param folder empty folder for the archive.
 * @returns path of the archive.
 */
export function packed(directory: string, folder: string): string {
  while (!takeLock()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  try {
    const archives = process.env[ARCHIVES_VARIABLE];
    if (archives === undefined) return pack(directory, folder);
    const kept = join(archives, basename(directory));
    mkdirSync(kept, { recursive: true });
    const archive = archiveIn(kept) ?? pack(directory, kept);
    const copy = join(folder, basename(archive));
    copyFileSync(archive, copy);
    return copy;
  } finally {
    rmdirSync(LOCK);
  }
}

/**
 * Unpacks a package as it is published into the `node_modules` of a project.
 *
 * @param directory the package's folder in the workspace.
 * @returns its folder in the project.
 */
export function unpacked(directory: string, name: string, project: string): string {
  const target = join(project, "node_modules", name);
  mkdirSync(target, { recursive: true });
  execFileSync("tar", ["-xzf", packed(directory, project), "-C", target, "--strip-components=1"]);
  return target;
}

function pack(directory: string, folder: string): string {
  const args = ["-y", "pnpm@12.21.0", "pack", "--pack-destination", folder];
  execFileSync("npx", args, { cwd: directory, stdio: ["ignore", "ignore", "inherit"] });
  const archive = archiveIn(folder);
  if (archive === undefined) throw new Error(`nothing was packed of ${directory}`);
  return archive;
}

function archiveIn(folder: string): string | undefined {
  const name = readdirSync(folder).find((file) => file.endsWith(".tgz"));
  return name === undefined ? undefined : join(folder, name);
}

/** Takes the lock; returns false where another process has it. */
function takeLock(): boolean {
  try {
    mkdirSync(LOCK);
    return true;
  } catch {
    const made = statSync(LOCK, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - made > LOCK_AGE_MS_MAX) rmdirSync(LOCK);
    return false;
  }
}
