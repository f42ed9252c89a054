import { type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";

/** Editors write a file in several steps; one change is reported when it has been quiet for this long. */
const QUIET_MS = 50;

/** Watches files until it is told otherwise. */
export interface FileWatch {
  /** Replaces the set of files. */
  set(files: readonly string[]): void;
  close(): void;
}

/**
 * Reports changes of files, however they come about. It is their folders that are watched: many editors write a new file
 * and give it the old name, and a watch on the file itself would stay with the old one.
 */
export function watchFiles(onChange: () => void): FileWatch {
  let watchers: FSWatcher[] = [];
  let timer: NodeJS.Timeout | undefined;
  const stop = () => {
    for (const watcher of watchers) watcher.close();
    watchers = [];
  };
  const report = () => {
    clearTimeout(timer);
    timer = setTimeout(onChange, QUIET_MS);
  };
  return {
    set(files) {
      stop();
      for (const [folder, names] of byFolder(files)) {
        watchers.push(watch(folder, (_, name) => (name === null || names.has(name)) && report()));
      }
    },
    close() {
      clearTimeout(timer);
      stop();
    },
  };
}

function byFolder(files: readonly string[]): Map<string, Set<string>> {
  const folders = new Map<string, Set<string>>();
  for (const file of files) {
    const names = folders.get(dirname(file)) ?? new Set();
    folders.set(dirname(file), names.add(basename(file)));
  }
  return folders;
}
