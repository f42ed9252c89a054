import { existsSync, type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { nearestExisting } from "@sluice/project/folders";

/** Time without events after which a change is reported, in ms: editors write a file in several steps. */
const QUIET_MS = 50;

/** File or folder to watch, by its absolute path. It need not exist: its creation and deletion are changes, too. */
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

/** Opens a watch on a folder, as `watch` of `node:fs` does. */
export type OpenWatch = (folder: string, onEvent: (event: string, name: string | null) => void) => FSWatcher;

/**
 * Reports changes of files. It watches their folders: many editors write a new file and rename it to the old name, and
 * a watch on the file itself would stay with the old file.
 *
 * Nothing is thrown for a folder that cannot be watched: it may belong to another process.
 *
 * @param onRefusal called once for each folder that cannot be watched, with a text that names it and the reason.
 */
export function watchFiles(
  onChange: () => void,
  onRefusal: (text: string) => void,
  open: OpenWatch = watch,
): FileWatch {
  let watches: FolderWatch[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const refused = new Set<string>();
  const stop = () => {
    for (const one of watches) one.close();
    watches = [];
  };
  const report = () => {
    clearTimeout(timer);
    timer = setTimeout(onChange, QUIET_MS);
  };
  const refuse = (folder: string, error: Error) => {
    if (refused.has(folder)) return;
    refused.add(folder);
    onRefusal(`${folder} cannot be watched: ${error.message}. Changes there are seen at the next start.`);
  };
  return {
    set(watched) {
      if (isClosed) return;
      stop();
      watches = watched.map((one) => new FolderWatch(one, { report, refuse, open }));
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      stop();
    },
  };
}

interface FolderWatchOptions {
  report(): void;
  refuse(folder: string, error: Error): void;
  readonly open: OpenWatch;
}

/** Watch on the folder of a file, or on a folder; while that folder does not exist, on the nearest one around it. */
class FolderWatch {
  readonly #watched: Watched;
  readonly #folder: string;
  readonly #options: FolderWatchOptions;
  #watcher: FSWatcher | undefined;
  #isClosed = false;

  constructor(watched: Watched, options: FolderWatchOptions) {
    this.#watched = watched;
    this.#folder = watched.kind === "file" ? dirname(watched.path) : watched.path;
    this.#options = options;
    this.#open();
  }

  close(): void {
    this.#isClosed = true;
    this.#watcher?.close();
  }

  #open(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    const folder = nearestExisting(this.#folder);
    try {
      const watcher = this.#options.open(folder, (_, name) => this.#onEvent(folder, name));
      // Windows reports the deletion of the folder as an error.
      watcher.on("error", (error) => this.#onError(folder, error));
      this.#watcher = watcher;
    } catch (error) {
      this.#onError(folder, error instanceof Error ? error : new Error(String(error)));
    }
  }

  #onEvent(folder: string, name: string | null): void {
    if (this.#isClosed) return;
    // A watch stays with a deleted folder, even if another folder takes its name.
    const isMoved = nearestExisting(this.#folder) !== folder || name === basename(folder);
    if (isMoved) this.#open();
    if (isMoved || (folder === this.#folder && concerns(this.#watched, name))) this.#options.report();
  }

  #onError(folder: string, error: Error): void {
    if (this.#isClosed) return;
    // The folder was deleted at this moment: the one around it is to be watched.
    if (!existsSync(folder)) {
      this.#open();
      this.#options.report();
    } else {
      this.#options.refuse(folder, error);
    }
  }
}

/** Whether an event for a file of the folder concerns the watch. Not every platform names the file. */
function concerns(watched: Watched, name: string | null): boolean {
  if (name === null) return true;
  return watched.kind === "file" ? name === basename(watched.path) : name !== watched.except;
}
