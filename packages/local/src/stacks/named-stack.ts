import { isAbsolute, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { OUTPUT_FOLDER } from "@sluice/project/files/write-plan";
import { ERROR_TEXT_MAX } from "@sluice/protocol";
import { OWN_SCHEME } from "@sluice/protocol/stack";
import { ownSources } from "../runtime-modules.ts";
import type { FindSource } from "./stack-frames.ts";

/** A frame with a file: what comes before it, the file, and after `?` what a dev server adds to it. */
const FRAME =
  /^(\s+at (?:.* \()?(?:async )?)((?:file:\/\/|\/|[A-Za-z]:[\\/]).*?)(?:\?[^:]*)?:(\d+):(\d+)(\)?)$/;

/** Folder of generated files, wherever it is in a path. */
const GENERATED = `${sep}${OUTPUT_FOLDER}${sep}`;

/**
 * Makes the function that names the places of a stack trace by the files that the user wrote: `src/payment.ts:15:36`;
 * those of ours begin with `sluice:`. A frame whose source is not found is left as it is.
 *
 * @param root folder that the user's files are named from. Absolute.
 * @param own folder of our own sources. Absolute. Default: where they are.
 */
export function stackNamer(
  find: FindSource,
  root: string,
  own: string = ownSources(),
): (stack: string) => string {
  const nameOf = (file: string): string => {
    const generated = file.lastIndexOf(GENERATED);
    if (generated !== -1) return OWN_SCHEME + slashed(file.slice(generated + GENERATED.length));
    return file.startsWith(own + sep)
      ? OWN_SCHEME + slashed(file.slice(own.length + 1))
      : slashed(relative(root, file));
  };
  const named = (line: string): string =>
    line.replace(FRAME, (frame, before: string, url: string, row: string, column: string, after: string) => {
      const found = find(url, Number(row), Number(column));
      return found === null ? frame : `${before}${nameOf(found.file)}:${found.row}:${found.column}${after}`;
    });
  return (stack) => {
    const lines = stack.split("\n");
    // In a text that was cut the last number may lack digits.
    const whole = stack.length < ERROR_TEXT_MAX ? lines.length : lines.length - 1;
    return lines.map((line, i) => (i < whole ? named(line) : line)).join("\n");
  };
}

/** Finds the places of a runtime that reads source maps itself, as Vite's does: they are in the sources already. */
export const alreadyInSource: FindSource = (url, row, column) => {
  return { file: url.startsWith("file:") ? fileURLToPath(url) : url, row, column };
};

/** Writes a path as on every system; one of another drive stays as it is. */
function slashed(path: string): string {
  return isAbsolute(path) ? path : path.replaceAll(sep, "/");
}
