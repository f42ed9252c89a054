import { execFileSync } from "node:child_process";

/**
 * The commit of the sources that a run used, for its report: a seed repeats a run only on the same sources.
 *
 * @param sources folders of the repository that the run depends on. Uncommitted changes in them are named in the
 *   result.
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
