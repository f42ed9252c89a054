import { existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import nodePath, { dirname, join, type PlatformPath } from "node:path";

/** Explanations of a refused write, by error code, for problems that the user can mend. */
const REFUSALS: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there",
  EPERM: "the system does not allow it",
  EROFS: "its file system is read-only",
  ENOSPC: "there is no room left on its disk",
  EDQUOT: "this user has no room left on its disk",
  ENOTDIR: "a file stands where a folder should",
  EEXIST: "a file stands where a folder should",
  EISDIR: "a folder stands where a file should",
  ELOOP: "its links lead in a circle",
  ENAMETOOLONG: "its name is too long",
  // `makeFolder` makes the folders around a new one, so they are not what is missing.
  ENOENT: "nothing can be made there",
};

/** Explains why a file system has refused a write; `null` for other errors. */
export function writeRefusal(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  return REFUSALS[String(error.code)] ?? null;
}

/** Calls `find` for a folder and those above it, the nearest first, and returns its first result; `null` for none. */
export function findAbove<Found>(folder: string, find: (folder: string) => Found | null): Found | null {
  const found = find(folder);
  const parent = dirname(folder);
  return found !== null || parent === folder ? found : findAbove(parent, find);
}

/** Returns a folder, or the nearest one above it that exists. */
export function nearestExisting(folder: string): string {
  const parent = dirname(folder);
  return existsSync(folder) || parent === folder ? folder : nearestExisting(parent);
}

/**
 * Makes a folder and those around it, unless they exist. Node's own `recursive` never ends under `/proc`, and reports a
 * read-only file system as a missing folder.
 *
 * @param folder absolute path.
 * @param mode mode of the new folders. Default: that of the process.
 * @throws the file system's error, which `writeRefusal` explains.
 */
export function makeFolder(folder: string, mode?: number): void {
  const missing: string[] = [];
  let around = folder;
  for (; !existsSync(around) && dirname(around) !== around; around = dirname(around)) missing.unshift(around);
  // Without this check, Windows reports a file in the path as a missing folder.
  requireFolder(around, folder);
  for (const path of missing) makeOne(path, mode);
  requireFolder(folder, folder);
}

function requireFolder(path: string, folder: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== false) return;
  throw Object.assign(new Error(`ENOTDIR: not a directory, '${folder}'`), { code: "ENOTDIR", path: folder });
}

function makeOne(path: string, mode: number | undefined): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST" && existsSync(path)))
      throw error;
  }
}

/** Most retries of a deletion, 1.5 s in all: Windows refuses to delete a file that a program has open. */
const REMOVAL_RETRIES_MAX = 5;

/** Deletes a file or a folder with all in it, if it is there. */
export function removePath(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: REMOVAL_RETRIES_MAX });
}

/**
 * Whether a path leads below a folder. On Windows the case of letters does not count, as in its `path.relative`.
 *
 * @param path rules for paths. Default: those of this system.
 */
export function isBelow(file: string, folder: string, path: PlatformPath = nodePath): boolean {
  const between = path.relative(folder, file);
  // A path of another drive is absolute.
  return between !== "" && !path.isAbsolute(between) && between.split(path.sep)[0] !== "..";
}

/** Finds the home folder of this user; a temporary folder for a user id without an account, which has no home. */
export function homeFolder(find: () => string = homedir): string {
  try {
    return find();
  } catch {
    return join(tmpdir(), `sluice-home-${process.getuid?.() ?? "none"}`);
  }
}
