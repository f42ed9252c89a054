import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { onTestFinished, vi } from "vitest";

/**
 * Lists renames and syncs that this process makes by Node.js until the end of the test: `rename a.sqlite b.sqlite`,
 * `sync PATH`. Those of SQLite are not among them.
 */
export function syncCalls(): readonly string[] {
  const calls: string[] = [];
  const { openSync, fsyncSync, renameSync } = fs;
  const paths = new Map<number, string>();
  const nameOf = (path: fs.PathLike) => `${path}`.replace(/.*\//, "").replace(/\d{5,}/, "N");
  vi.spyOn(fs, "openSync").mockImplementation((path, ...more) => {
    const descriptor = openSync(path, ...more);
    paths.set(descriptor, `${path}`);
    return descriptor;
  });
  vi.spyOn(fs, "fsyncSync").mockImplementation((descriptor) => {
    calls.push(`sync ${paths.get(descriptor)}`);
    fsyncSync(descriptor);
  });
  vi.spyOn(fs, "renameSync").mockImplementation((from, to) => {
    calls.push(`rename ${nameOf(from)} ${nameOf(to)}`);
    renameSync(from, to);
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  return calls;
}
