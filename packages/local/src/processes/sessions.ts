import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { writeIfChanged } from "@sluice/project/files/write-plan";

/** Mode of the sessions folder, for its owner alone: which Workers a user runs is private. */
const FOLDER_MODE = 0o700;

/** A running `sluice dev`, or a program whose `getPlatformProxy` sends to queues, as the others see it. */
export interface Session {
  readonly pid: number;
  /** Tells those of one process apart. Default: it has just one. */
  readonly part?: string | undefined;
  readonly startedAtMs: number;
  /** The environment that it runs, "" for the top level. */
  readonly env: string;
  /** Configuration files of its Workers. */
  readonly files: readonly string[];
  /** Configuration files of Workers whose queues it sends to without running them. Default: none. */
  readonly senders?: readonly string[];
  /** Absolute path of its data folder; `null` until it knows. */
  readonly data: string | null;
  /** Name of the broker that it runs on that folder; `null` while it uses another session's. */
  readonly broker: string | null;
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
 * Tells the others of this process, or of what has changed about it. What they know already is not written again: each
 * of them answers a change with a reading of its own, and two would go on answering each other for ever.
 */
export function announce(folder: string, session: Session): void {
  writeIfChanged(fileOf(folder, session), JSON.stringify(session), { folderMode: FOLDER_MODE });
}

/** Takes the announcement back. */
export function leave(folder: string, pid: number, part?: string): void {
  rmSync(fileOf(folder, { pid, part }), { force: true });
}

/** The other processes that are running, the oldest first. What a killed one left behind goes. */
export function otherSessions(folder: string, ownPid: number): Session[] {
  const sessions: Session[] = [];
  for (const name of namesIn(folder)) {
    const session = read(join(folder, name));
    if (session === null || session.pid === ownPid) continue;
    if (isRunning(session.pid)) sessions.push(session);
    else rmSync(join(folder, name), { force: true });
  }
  return sessions.sort((a, b) => a.startedAtMs - b.startedAtMs || a.pid - b.pid);
}

function fileOf(folder: string, { pid, part }: Pick<Session, "pid" | "part">): string {
  return join(folder, part === undefined ? `${pid}.json` : `${pid}-${part}.json`);
}

/** None where somebody has deleted the folder: every process makes it anew when it has something to tell. */
function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/**
 * `null` for a file that is being written or taken away at this moment: there will be another change to report. So too
 * for one that another version wrote, which cannot be used.
 */
function read(file: string): Session | null {
  try {
    const session: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isSession(session) ? session : null;
  } catch {
    return null;
  }
}

/** Whether there is a process of that number. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is there, and somebody else's.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === "string";
}

function isFiles(value: unknown): boolean {
  return Array.isArray(value) && value.every((file) => typeof file === "string" && isAbsolute(file));
}

function isSession(value: unknown): value is Session {
  if (typeof value !== "object" || value === null) return false;
  const session = value as Partial<Record<keyof Session, unknown>>;
  const { pid, startedAtMs, env, files, senders = [], data, broker } = session;
  const isList = isFiles(files) && isFiles(senders);
  const isKnown = typeof pid === "number" && typeof startedAtMs === "number" && typeof env === "string";
  return isKnown && isList && isTextOrNull(data) && isTextOrNull(broker);
}
