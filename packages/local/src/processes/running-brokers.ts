import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { writeIfChanged } from "@sluice/project/files/write-plan";
import { isRunning } from "./sessions.ts";

/**
 * Modes of the folder of running brokers and of its files, for their owner alone: which queues a user uses is private.
 */
const MODES = { folderMode: 0o700, fileMode: 0o600 };

/** A broker that a process of this user runs, or leads to. */
export interface RunningBroker {
  readonly pid: number;
  /** `sluice dev`, `sluice serve`, `sluice worker-daemon`. */
  readonly command: string;
  /** Where its HTTP side answers, without `/__sluice` and without a slash at its end. */
  readonly url: string;
  /** Absolute path of its data folder. */
  readonly data: string;
  /** Absolute paths of the folders that it was started in and for. */
  readonly folders: readonly string[];
  readonly startedAtMs: number;
  /** Lets this user's commands in. Default: none, where everybody is let in, or where they have to bring one. */
  readonly token?: string;
}

/**
 * Folder in which the brokers of one user say where they are: one file each. As with the sessions of `sluice dev`,
 * `WRANGLER_REGISTRY_PATH` separates those that are to know nothing of each other.
 */
export function brokersFolder(env: NodeJS.ProcessEnv): string {
  const registry = env.WRANGLER_REGISTRY_PATH;
  return registry === undefined ? join(homedir(), ".cache/sluice/brokers") : `${registry}.sluice-brokers`;
}

/** The folders that a broker of a project is looked for from. */
export function foldersOf(
  { workers }: { readonly workers: readonly { readonly userDirectory: string }[] },
  cwd: string,
): readonly string[] {
  return [...new Set([cwd, ...workers.map(({ userDirectory }) => userDirectory)])];
}

/**
 * Lets the commands that use a broker find this process's, until it ends.
 *
 * @returns takes it back. A home that cannot be written to keeps no broker from running: then `--url` finds it.
 */
export function registerBroker(
  folder: string,
  broker: Omit<RunningBroker, "pid" | "startedAtMs">,
  { pid, startedAtMs }: Pick<RunningBroker, "pid" | "startedAtMs"> = {
    pid: process.pid,
    startedAtMs: Date.now(),
  },
): () => void {
  const file = join(folder, `${pid}.json`);
  const takeBack = () => rmSync(file, { force: true });
  try {
    writeIfChanged(file, JSON.stringify({ pid, startedAtMs, ...broker }), MODES);
  } catch {
    return () => {};
  }
  process.once("exit", takeBack);
  return () => {
    process.off("exit", takeBack);
    takeBack();
  };
}

/** The brokers that are running, the oldest first. What a killed process left behind goes. */
export function runningBrokers(folder: string): RunningBroker[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const brokers: RunningBroker[] = [];
  for (const name of names) {
    const broker = read(join(folder, name));
    if (broker === null) continue;
    if (isRunning(broker.pid)) brokers.push(broker);
    else rmSync(join(folder, name), { force: true });
  }
  return brokers.sort((a, b) => a.startedAtMs - b.startedAtMs || a.pid - b.pid);
}

/** `null` for a file that is being written or taken away at this moment, or that another version wrote. */
function read(file: string): RunningBroker | null {
  try {
    const broker: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isBroker(broker) ? broker : null;
  } catch {
    return null;
  }
}

function isBroker(value: unknown): value is RunningBroker {
  if (typeof value !== "object" || value === null) return false;
  const {
    pid,
    startedAtMs,
    command,
    url,
    data,
    folders,
    token = "",
  } = value as Partial<Record<string, unknown>>;
  const isKnown =
    typeof pid === "number" &&
    typeof startedAtMs === "number" &&
    typeof command === "string" &&
    typeof token === "string";
  const isPlace = typeof url === "string" && typeof data === "string";
  const isList = Array.isArray(folders) && folders.every((one) => typeof one === "string" && isAbsolute(one));
  return isKnown && isPlace && isList;
}
