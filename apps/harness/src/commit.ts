import { execFileSync } from "node:child_process";

/**
 * Names the commit of the sources of a run, for its report: a seed repeats a run only on the same sources.
 *
 * @param sources folders of the repository that the run depends on. The result says whether they have uncommitted
 *   changes.
 */
export function commit(...sources: readonly string[]): string {
  const git = (...args: readonly string[]) =>
    execFileSync("git", args, { cwd: import.meta.dirname, encoding: "utf8" }).trim();
  try {
    const root = git("rev-parse", "--show-toplevel");
    const changed = git("-C", root, "status", "--porcelain", "--", ...sources);
    return git("rev-parse", "--short", "HEAD") + (changed === "" ? "" : " with changes");
  } catch {
    return "unknown";
  }
}
