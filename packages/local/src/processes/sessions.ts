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

/** A running `sluice dev`, or a program whose `getPlatformProxy` sends to queues, as the others see it. */
export interface Session extends ProcessEntry {
  /** The environment that it runs, "" for the top level. */
  readonly env: string;
  /** Configuration files of its Workers. */
  readonly files: readonly string[];
  /** Configuration files of Workers whose queues it sends to without running them. Default: none. */
  readonly senders?: readonly string[];
  /** Queues of each `cloudflare.config.ts` among these files, which it alone runs. Default: of none. */
  readonly modules?: ReadModules;
  /** Absolute path of its data folder; `null` until it knows. */
  readonly data: string | null;
  /** Name of the broker that it runs on that folder; `null` while it uses another session's. */
  readonly broker: string | null;
}

export type Sessions = ProcessRegistry<Session>;

/** The sessions of one user. */
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
