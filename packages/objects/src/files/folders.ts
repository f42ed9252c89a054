import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder, and those around it, that a power cut does not take away: what a database syncs is lost with a folder
 * around it. Syncs their names also where they are there: who made them may have been killed before.
 *
 * @throws the file system's error.
 */
export function makeDurableFolder(folder: string, mode: number): void {
  const first = mkdirSync(folder, { recursive: true, mode }) ?? folder;
  syncFoldersAround(folder, dirname(first));
}

/** Syncs the names in the folders around a file or folder, up to and including `top`. */
export function syncFoldersAround(path: string, top: string): void {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    syncFolder(folder);
    if (folder === top || folder === dirname(folder)) return;
  }
}

/**
 * Makes the names in a folder survive a power cut. Where that cannot be asked for, as on Windows or of a folder that
 * this user may not read, nothing is done, as by SQLite.
 */
export function syncFolder(folder: string): void {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(folder, "r");
    fsyncSync(descriptor);
  } catch {
    // The file system has other ways, or none.
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}
