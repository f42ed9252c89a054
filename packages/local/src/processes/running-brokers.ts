import {
  isPaths,
  isText,
  optional,
  type ProcessEntry,
  ProcessRegistry,
  processesFolder,
} from "./registry.ts";

/** A broker that a process of this user runs, or whose Workers use it. */
export interface RunningBroker extends ProcessEntry {
  /** `sluice dev`, `sluice serve`, `sluice worker-daemon`. */
  readonly command: string;
  /** Base URL of its HTTP side, without `/__sluice` and without a slash at its end. */
  readonly url: string;
  /** Absolute path of its data folder. */
  readonly data: string;
  /** Absolute paths of the folder that it was started in, and of its Workers' folders. */
  readonly folders: readonly string[];
  /** Token for this user's commands. Default: none, where no token is needed or the user has to provide one. */
  readonly token?: string;
}

/** Opens the registry of one user's brokers. */
export function brokersOf(env: NodeJS.ProcessEnv): ProcessRegistry<RunningBroker> {
  return new ProcessRegistry<RunningBroker>(processesFolder(env, "brokers", ".sluice-brokers"), {
    command: isText,
    url: isText,
    data: isText,
    folders: isPaths,
    token: optional(isText),
  });
}

/** Lists the folders in which commands find the broker of a project. */
export function foldersOf(
  { workers }: { readonly workers: readonly { readonly userDirectory: string }[] },
  cwd: string,
): readonly string[] {
  return [...new Set([cwd, ...workers.map(({ userDirectory }) => userDirectory)])];
}

/**
 * Registers this process's broker for the commands that use one, until the process ends. If the home folder cannot be
 * written to, nothing is registered, and the commands need `--url`.
 *
 * @returns a function that removes the entry.
 */
export function registerBroker(
  env: NodeJS.ProcessEnv,
  broker: Omit<RunningBroker, keyof ProcessEntry>,
): () => void {
  try {
    return brokersOf(env).enter({ pid: process.pid, startedAtMs: Date.now(), ...broker });
  } catch {
    return () => {};
  }
}
