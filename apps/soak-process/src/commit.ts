import { execFileSync } from "node:child_process";

/** The commit that a run is of, for its report: a seed means something only together with it. */
export function commit(): string {
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: import.meta.dirname, encoding: "utf8" }).trim();
  try {
    const root = git("rev-parse", "--show-toplevel");
    const changed = git(
      "-C",
      root,
      "status",
      "--porcelain",
      "--",
      "packages",
      "apps/broker",
      "apps/soak-process",
    );
    return git("rev-parse", "--short", "HEAD") + (changed === "" ? "" : " with changes");
  } catch {
    return "unknown";
  }
}
