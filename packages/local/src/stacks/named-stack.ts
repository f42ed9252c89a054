import { isAbsolute, relative, sep } from "node:path";
import { OUTPUT_FOLDER } from "@sluice/project/files/write-plan";
import { isBelow } from "@sluice/project/folders";
import { ERROR_TEXT_MAX } from "@sluice/protocol";
import { OWN_SCHEME } from "@sluice/protocol/stack";
import { ownSources } from "../runtime-modules.ts";
import { fileOf } from "./file-of.ts";
import type { FindSource } from "./stack-frames.ts";

/** Beginning of a frame. */
const BEGINNING = /^\s+at /;

/** Beginning of a frame's file, matched at `lastIndex`. */
const FILE = /(async )?(?:file:\/\/|\/|[A-Za-z]:[\\/])/y;

/** Row and column at the end of a frame. */
const END = /:(\d+):(\d+)(\)?)$/;

/** A parsed frame of a stack trace that names a file. */
interface Frame {
  readonly before: string;
  readonly url: string;
  readonly row: number;
  readonly column: number;
  readonly after: string;
}

/** Folder of generated files, wherever it is in a path. */
const GENERATED = `${sep}${OUTPUT_FOLDER}${sep}`;

/**
 * Makes the function that rewrites the frames of a stack trace to the user's sources: `src/payment.ts:15:36`. Frames in
 * our sources begin with `sluice:`. A frame whose source is not found stays as it is.
 *
 * @param root folder that the user's files are relative to. Absolute.
 * @param own folder of our own sources. Absolute. Default: `ownSources()`.
 */
export function stackNamer(
  find: FindSource,
  root: string,
  own: string = ownSources(),
): (stack: string) => string {
  const nameOf = (file: string): string => {
    const generated = file.lastIndexOf(GENERATED);
    if (generated !== -1) return OWN_SCHEME + slashed(file.slice(generated + GENERATED.length));
    return isBelow(file, own) ? OWN_SCHEME + slashed(relative(own, file)) : slashed(relative(root, file));
  };
  const named = (line: string): string => {
    const frame = frameOf(line);
    const found = frame && find(frame.url, frame.row, frame.column);
    if (frame === null || found === null) return line;
    return `${frame.before}${nameOf(found.file)}:${found.row}:${found.column}${frame.after}`;
  };
  return (stack) => {
    const lines = stack.split("\n");
    // In a text that was cut the last number may lack digits.
    const whole = stack.length < ERROR_TEXT_MAX ? lines.length : lines.length - 1;
    return lines.map((line, i) => (i < whole ? named(line) : line)).join("\n");
  };
}

/** Parses a frame that names a file; `null` for any other line. Reads each part once: a handler may throw any text. */
export function frameOf(line: string): Frame | null {
  const beginning = BEGINNING.exec(line)?.[0].length;
  const end = END.exec(line);
  if (beginning === undefined || end === null) return null;
  const start = fileStart(line, beginning);
  if (start === null) return null;
  const [, row, column, after = ""] = end;
  const file = line.slice(start, end.index);
  // A dev server adds a query to the file's URL.
  const added = file.indexOf("?", file.lastIndexOf(":") + 1);
  const url = added === -1 ? file : file.slice(0, added);
  return { before: line.slice(0, start), url, row: Number(row), column: Number(column), after };
}

/** Returns where the file of a frame begins: in the last parentheses with a file, else right at the beginning. */
function fileStart(line: string, beginning: number): number | null {
  for (let at = line.lastIndexOf(" ("); at >= beginning; at = line.lastIndexOf(" (", at - 1)) {
    const start = startAt(line, at + 2);
    if (start !== null) return start;
  }
  return startAt(line, beginning);
}

function startAt(line: string, at: number): number | null {
  FILE.lastIndex = at;
  const found = FILE.exec(line);
  return found === null ? null : at + (found[1]?.length ?? 0);
}

/** Returns each place as it is, for a runtime that applies source maps itself, as Vite's does. */
export const alreadyInSource: FindSource = (url, row, column) => {
  const file = fileOf(url);
  return file === null ? null : { file, row, column };
};

/** Writes a relative path with slashes on every system. An absolute one, as of another drive, stays as it is. */
function slashed(path: string): string {
  return isAbsolute(path) ? path : path.replaceAll(sep, "/");
}
