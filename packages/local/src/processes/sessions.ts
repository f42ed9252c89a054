import { areReadModules, type ReadModules } from "@sluice/config";
import {
  isPaths,
  isText,
  optional,
  orNull,
  type ProcessEntry,
  ProcessRegistry,
  processesFolder,
} from "./registry.ts";

/** Entry of a running `sluice dev`, or of a program whose `getPlatformProxy` sends to queues. */
export interface Session extends ProcessEntry {
  /** The environment that it runs, "" for the top level. */
  readonly env: string;
  /** Configuration files of its Workers. */
  readonly files: readonly string[];
  /** Configuration files of Workers whose queues it sends to without running them. Default: none. */
  readonly senders?: readonly string[];
  /** Queues of each `cloudflare.config.ts` among these files, which only this session executes. Default: of none. */
  readonly modules?: ReadModules;
  /** Absolute path of its data folder; `null` until it is decided. */
  readonly data: string | null;
  /** Name of the broker that it runs on that folder; `null` while it uses another session's. */
  readonly broker: string | null;
}

export type Sessions = ProcessRegistry<Session>;

/** Opens the registry of one user's sessions. */
export function sessionsOf(env: NodeJS.ProcessEnv): Sessions {
  return new ProcessRegistry<Session>(processesFolder(env, "sessions", ".sluice"), {
    env: isText,
    files: isPaths,
    senders: optional(isPaths),
    modules: optional(areReadModules),
    data: orNull(isText),
    broker: orNull(isText),
  });
}
