import { statSync } from "node:fs";
import { posix, win32 } from "node:path";
import { fileURLToPath } from "node:url";
import { printable } from "@sluice/protocol/words";
import { isBelow } from "../folders.ts";

/** Modules that this process has run to read a configuration, each with the time of its last run in Unix ms. */
const modules = new Map<string, number>();
/** Warnings that were printed since a module has changed. They are not repeated. */
const printed = new Set<string>();

/**
 * Records that a `cloudflare.config.ts` is about to be run.
 *
 * @param file its absolute path.
 * @param dependencies absolute paths of the modules that it consisted of at its last run.
 */
export function noteModule(file: string, dependencies: Iterable<string>): void {
  const ranMs = modules.get(file) ?? 0;
  if ([...dependencies].some((path) => changedMs(path) > ranMs)) printed.clear();
  modules.set(file, Date.now());
}

function changedMs(path: string): number {
  return Math.floor(statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
}

/**
 * Keeps this process running when a module that it has run fails later, as in a timer or an unhandled promise. A
 * warning names the file and the error. It is repeated only after a module has changed, since a file is run again
 * whenever another process makes this one read its configurations. Other errors end the process as usual. Call it
 * before Wrangler is loaded: a library of Wrangler's keeps the `process.emit` that it finds then.
 *
 * @param warn called with the warning. Default: prints it.
 */
export function surviveLateErrors(warn = (line: string) => console.warn(line)): void {
  const emit = process.emit.bind(process) as (name: string | symbol, ...args: unknown[]) => boolean;
  // A listener would not do: Wrangler's own listener ends the process in any case.
  const intercepted = (name: string | symbol, ...args: unknown[]) => {
    const isError = name === "uncaughtException" || name === "unhandledRejection";
    const line = isError ? lateError(args[0], [...modules.keys()]) : null;
    if (line === null) return emit(name, ...args);
    if (!printed.has(line)) warn(line);
    printed.add(line);
    return true;
  };
  process.emit = intercepted as typeof process.emit;
}

/** Formats an error of one of the files, or of a module beside it; `null` for errors from elsewhere. */
export function lateError(
  error: unknown,
  files: readonly string[],
  platform = process.platform,
): string | null {
  // A thrown value that is no `Error` has no stack. Wrangler throws none, so it comes from one of the files.
  if (!(error instanceof Error)) {
    return files.length === 0 ? null : worded(files.join(" or "), reasonOf(error));
  }
  for (const file of files) {
    const place = placeIn(error, file, platform);
    if (place !== file) return worded(place, reasonOf(error));
  }
  return null;
}

function worded(place: string, reason: string): string {
  return `${place}: warning: it failed after it had been read: ${reason}`;
}

/** Formats a value that a module has thrown, which may be anything, for a terminal. */
export function reasonOf(error: unknown): string {
  try {
    return printable(String(error instanceof Error ? error.message : error)) || WITHOUT_WORDS;
  } catch {
    // `String` fails for some values, such as an object without a prototype.
    return WITHOUT_WORDS;
  }
}

const WITHOUT_WORDS = "it has thrown something without words";

/** Path or `file:` URL of a frame in a stack trace, and its line. A reloaded module has a query between them. */
const FRAME = /(?:^|\s|\()(file:\/\/[^\s?]+?|(?:\/|[A-Za-z]:[\\/])[^\n?]+?)(?:\?[^\s:]*)?:(\d+)(?=[:)\s]|$)/m;

/** Finds the line of one of the user's modules in a stack trace; the file alone where there is none. */
export function placeIn(error: unknown, file: string, platform = process.platform): string {
  const stack = error instanceof Error ? error.stack : "";
  const [, place = "", line] = (typeof stack === "string" && FRAME.exec(stack)) || [];
  const paths = platform === "win32" ? win32 : posix;
  const path = place.startsWith("file:") ? pathOf(place, platform) : place;
  const isOwn = isBelow(path, paths.dirname(file), paths) && !/[\\/]node_modules[\\/]/.test(path);
  return isOwn ? `${path}:${line}` : file;
}

function pathOf(url: string, platform: NodeJS.Platform): string {
  try {
    return fileURLToPath(url, { windows: platform === "win32" });
  } catch {
    return "";
  }
}
