import { statSync } from "node:fs";
import { posix, win32 } from "node:path";
import { fileURLToPath } from "node:url";
import { printable } from "@sluice/protocol/words";
import { isBelow } from "../folders.ts";

/** Modules that this process has run to read a configuration, each with the time of its last run in Unix ms. */
const modules = new Map<string, number>();
/** Warnings that need not be repeated: no module has changed since. */
const said = new Set<string>();

/**
 * Notes a `cloudflare.config.ts` that is about to be run, by its absolute path.
 *
 * @param dependencies absolute paths of the modules that it consisted of before.
 */
export function noteModule(file: string, dependencies: Iterable<string>): void {
  const ranMs = modules.get(file) ?? 0;
  if ([...dependencies].some((path) => changedMs(path) > ranMs)) said.clear();
  modules.set(file, Date.now());
}

function changedMs(path: string): number {
  return Math.floor(statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
}

/**
 * Keeps this process going when a module that it has run fails later, as in a timer or a promise that nobody waits for.
 * It says which file failed and why, once until a module changes: a file is run again whenever another process makes
 * this one read its configurations. Other errors go their way. Call it before Wrangler is loaded: a library of
 * Wrangler's keeps the `emit` that it finds then.
 *
 * @param warn told the line. Default: it is printed.
 */
export function surviveLateErrors(warn = (line: string) => console.warn(line)): void {
  const emit = process.emit.bind(process) as (name: string | symbol, ...args: unknown[]) => boolean;
  // No listener: one of Wrangler's ends the process, whatever others make of the error.
  const intercepted = (name: string | symbol, ...args: unknown[]) => {
    const isError = name === "uncaughtException" || name === "unhandledRejection";
    const line = isError ? lateError(args[0], [...modules.keys()]) : null;
    if (line === null) return emit(name, ...args);
    if (!said.has(line)) warn(line);
    said.add(line);
    return true;
  };
  process.emit = intercepted as typeof process.emit;
}

/** Words an error of one of the files, or of a module beside it; `null` where it is not theirs. */
export function lateError(
  error: unknown,
  files: readonly string[],
  platform = process.platform,
): string | null {
  // What is no error does not say where it is from. Wrangler throws nothing of the kind.
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

/** Words what a module has thrown, which may be anything, as a terminal may show it. */
export function reasonOf(error: unknown): string {
  try {
    return printable(String(error instanceof Error ? error.message : error)) || WITHOUT_WORDS;
  } catch {
    // Such as an object without a prototype.
    return WITHOUT_WORDS;
  }
}

const WITHOUT_WORDS = "it has thrown something without words";

/**
 * Path or `file:` URL of a frame in a stack trace, and its line. A query stands between them where a module is loaded
 * again.
 */
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
