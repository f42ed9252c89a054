import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** The type of a pull consumer with its key, in TOML and in JSON. */
const PULL_TYPE = /(\btype["']?\s*[=:]\s*["'])http_pull(?=["'])/g;

/**
 * Calls `read` with a configuration file that Wrangler can read. That is the file itself, unless it has consumers of
 * the type `http_pull`: then it is a copy with another type, beside the file so that paths mean the same, which is
 * deleted afterwards. Errors of `read` name the file itself.
 */
export function withReadableFile<T>(file: string, read: (file: string) => T): T {
  const text = textOf(file);
  if (text === null || text.search(PULL_TYPE) === -1) return read(file);
  const copy = copyOf(file);
  writeFileSync(copy, text.replaceAll(PULL_TYPE, "$1worker"));
  try {
    return read(copy);
  } catch (error) {
    if (error instanceof Error) error.message = withFileItself(error.message, file);
    throw error;
  } finally {
    rmSync(copy, { force: true });
  }
}

/** Replaces the name of the copy by that of the file in a text of Wrangler's. */
export function withFileItself(text: string, file: string): string {
  return text.replaceAll(basename(copyOf(file)), basename(file));
}

function copyOf(file: string): string {
  return join(dirname(file), `.sluice-${process.pid}-${basename(file)}`);
}

/** Reads a file; returns `null` for one that cannot be read, which Wrangler reports. */
function textOf(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
