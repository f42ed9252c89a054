import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The folders of `ownFolder`, with the process that each is of. */
const NAME = /^sluice-(?:wrangler|bundle)-(\d+)-/;

/**
 * Makes a temporary folder that says which process it is of, so that a later one can remove it where this was killed.
 */
export function ownFolder(what: "wrangler" | "bundle", parent = tmpdir()): string {
  return mkdtempSync(join(parent, `sluice-${what}-${process.pid}-`));
}

/** Removes the folders of processes that are not there any more. */
export function sweepLeftovers(parent = tmpdir()): void {
  for (const name of readdirSync(parent)) {
    const [, pid] = NAME.exec(name) ?? [];
    if (pid === undefined || isThere(Number(pid))) continue;
    try {
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // It is another user's, who sweeps it.
    }
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process is there, and may not be asked.
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}
