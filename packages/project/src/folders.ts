import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Explanations, about a path, of the error codes of file systems for problems that the user of the command can mend.
 */
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
  // Where a folder is to be made, the one around it is there.
  ENOENT: "nothing can be made there",
};

/** Why a file system has refused to write something; `null` for an error of another kind. */
export function refusalOf(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  return REFUSALS[String(error.code)] ?? null;
}

/** A folder, or the nearest one around it that is there. */
export function nearestExisting(folder: string): string {
  const parent = dirname(folder);
  return existsSync(folder) || parent === folder ? folder : nearestExisting(parent);
}

/**
 * Makes a folder, and those around it, unless they are there. Node's own `recursive` tries for ever under `/proc`, and
 * says of a read-only file system that it has no such folder.
 *
 * @param folder absolute.
 * @param mode of the folders that are made. Default: what the process makes.
 * @throws the file system's error; `refusalOf` has the words for it.
 */
export function makeFolder(folder: string, mode?: number): void {
  const missing: string[] = [];
  for (let path = folder; !existsSync(path); path = dirname(path)) missing.unshift(path);
  for (const path of missing) makeOne(path, mode);
  if (!statSync(folder).isDirectory()) {
    throw Object.assign(new Error(`ENOTDIR: not a directory, '${folder}'`), {
      code: "ENOTDIR",
      path: folder,
    });
  }
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
