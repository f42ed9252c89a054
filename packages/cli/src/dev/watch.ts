import { type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";

/** Editors write a file in several steps; one change is reported when it has been quiet for this long. */
const QUIET_MS = 50;

/** What is watched. Absolute paths. */
export type Watched =
  | { readonly kind: "file"; readonly path: string }
  /** Every file of a folder but one. */
  | { readonly kind: "folder"; readonly path: string; readonly except: string };

/** Watches until it is closed. */
export interface FileWatch {
  /** Replaces what is watched. Does nothing once closed: a watch keeps the process from ending. */
  set(watched: readonly Watched[]): void;
  close(): void;
}

/**
 * Reports changes of files, however they come about. It is their folders that are watched: many editors write a new file
 * and give it the old name, and a watch on the file itself would stay with the old one.
 */
export function watchFiles(onChange: () => void): FileWatch {
  let watchers: FSWatcher[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const stop = () => {
    for (const watcher of watchers) watcher.close();
    watchers = [];
  };
  const report = () => {
    clearTimeout(timer);
    timer = setTimeout(onChange, QUIET_MS);
  };
  return {
    set(watched) {
      if (isClosed) return;
      stop();
      watchers = watched.map((one) => watch(folderOf(one), (_, name) => concerns(one, name) && report()));
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      stop();
    },
  };
}

function folderOf({ kind, path }: Watched): string {
  return kind === "file" ? dirname(path) : path;
}

/** Not every platform says which file of the folder it was. */
function concerns(watched: Watched, name: string | null): boolean {
  if (name === null) return true;
  return watched.kind === "file" ? name === basename(watched.path) : name !== watched.except;
}
