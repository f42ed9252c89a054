import {
  isPaths,
  isText,
  optional,
  type ProcessEntry,
  ProcessRegistry,
  processesFolder,
} from "./registry.ts";

/** A broker that a process of this user runs, or leads to. */
export interface RunningBroker extends ProcessEntry {
  /** `sluice dev`, `sluice serve`, `sluice worker-daemon`. */
  readonly command: string;
  /** Where its HTTP side answers, without `/__sluice` and without a slash at its end. */
  readonly url: string;
  /** Absolute path of its data folder. */
  readonly data: string;
  /** Absolute paths of the folders that it was started in and for. */
  readonly folders: readonly string[];
  /** Lets this user's commands in. Default: none, where everybody is let in, or where they have to bring one. */
  readonly token?: string;
}

/** The brokers of one user. */
export function brokersOf(env: NodeJS.ProcessEnv): ProcessRegistry<RunningBroker> {
  return new ProcessRegistry<RunningBroker>(processesFolder(env, "brokers", ".sluice-brokers"), {
    command: isText,
    url: isText,
    data: isText,
    folders: isPaths,
    token: optional(isText),
  });
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
  env: NodeJS.ProcessEnv,
  broker: Omit<RunningBroker, keyof ProcessEntry>,
): () => void {
  try {
    return brokersOf(env).enter({ pid: process.pid, startedAtMs: Date.now(), ...broker });
  } catch {
    return () => {};
  }
}
