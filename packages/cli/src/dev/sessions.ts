import { readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { isRunning } from "../data-lock.ts";
import { writeIfChanged } from "../output/write-plan.ts";

/** What the others' Workers are is nobody else's business. */
const FOLDER_MODE = 0o700;

/** A running `sluice dev`, as the others see it. */
export interface Session {
  readonly pid: number;
  readonly startedAtMs: number;
  /** The environment that it runs, "" for the top level. */
  readonly env: string;
  /** Configuration files of its Workers. */
  readonly files: readonly string[];
}

/**
 * Folder in which the `sluice dev` processes of one user find each other: one file each. Processes whose Workers cannot
 * see each other (`WRANGLER_REGISTRY_PATH`) must not find each other either.
 */
export function sessionsFolder(env: NodeJS.ProcessEnv): string {
  const registry = env.WRANGLER_REGISTRY_PATH;
  return registry === undefined ? join(homedir(), ".cache/sluice/sessions") : `${registry}.sluice`;
}

/**
 * Tells the others of this process, or of what has changed about it. What they know already is not written again: each of
 * them answers a change with a reading of its own, and two would go on answering each other for ever.
 */
export function announce(folder: string, session: Session): void {
  writeIfChanged(fileOf(folder, session.pid), JSON.stringify(session), FOLDER_MODE);
}

/** Takes the announcement back. */
export function leave(folder: string, pid: number): void {
  rmSync(fileOf(folder, pid), { force: true });
}

/** The other processes that are running, the oldest first. What a killed one left behind goes. */
export function otherSessions(folder: string, ownPid: number): Session[] {
  const sessions: Session[] = [];
  for (const name of readdirSync(folder)) {
    const session = read(join(folder, name));
    if (session === null || session.pid === ownPid) continue;
    if (isRunning(session.pid)) sessions.push(session);
    else leave(folder, session.pid);
  }
  return sessions.sort((a, b) => a.startedAtMs - b.startedAtMs || a.pid - b.pid);
}

function fileOf(folder: string, pid: number): string {
  return join(folder, `${pid}.json`);
}

/** `null` for a file that is being written or taken away at this moment: there will be another change to report. */
function read(file: string): Session | null {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Session;
  } catch {
    return null;
  }
}
