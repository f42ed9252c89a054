import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and its parents so that they survive a power cut: synced databases would be lost with a folder around
 * them. An existing folder's name is synced, too: the process that made it may have been killed before its sync.
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
 * Syncs a folder, so that the names in it survive a power cut. Does nothing where that is not possible, as on Windows
 * or for a folder that this user may not read; SQLite does the same.
 */
export function syncFolder(folder: string): void {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(folder, "r");
    fsyncSync(descriptor);
  } catch {
    // The file system cannot sync a folder.
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}
