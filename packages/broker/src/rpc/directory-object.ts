import type {
  AuditRpc,
  ClockSetting,
  DirectoryReply,
  DirectoryRpc,
  QueueAtRest,
  QueueRecord,
  TokensRpc,
  TopicsRpc,
} from "@sluice/protocol";
import type { CommitPosition } from "./commit-position.ts";
import type { QueueStatus } from "./queue-status.ts";
import type { Undeliverable } from "./transfer.ts";

/** Name of the one directory of an account. */
export const DIRECTORY_NAME = "directory";

/** Answer to a queue's object at its start, in one call. */
export interface Opened {
  /** How far the queue had come by its latest report, `null` if it never made one. */
  readonly position: CommitPosition | null;
  readonly status: QueueStatus;
  /** Whether it is known to be idle, as of that report. */
  readonly isIdle: boolean;
  /** Version of the topic whose object this is, `null` if that is no more. Absent for a queue. */
  readonly topicVersion?: number | null;
  /** The broker's clock; absent if nobody ever moved it. */
  readonly clock?: ClockSetting;
  /**
   * Data of it that the directory has lost, to go on with "the directory ..."; `null` if none, as far as that shows.
   */
  readonly directoryLoss: string | null;
}

/** Calls of queues' objects to the directory. */
export interface QueuesDirectory extends Pick<DirectoryRpc, "findByName"> {
  /**
   * A queue's object has started.
   *
   * @param copy what it was by what it last knew: a directory that has lost its data takes it from there.
   */
  opened(queue: string, copy: QueueRecord | null): Promise<Opened>;
  /** Takes a report, and answers with what was known before it. A report can be late: no number gets smaller. */
  report(
    queue: string,
    position: CommitPosition,
    snapshot: QueueAtRest | null,
  ): Promise<CommitPosition | null>;
  /** The queue of a name, created if there is none: dead letters have come for it. */
  ensureQueue(queue: string): Promise<DirectoryReply>;
  /** Decides whether messages of a topic for a queue that does not exist (any more) are dead-lettered or dropped. */
  undeliverable(topicObject: string, queue: string): Promise<Undeliverable>;
}

/** An object with an alarm of the platform's. */
export interface AlarmedObject {
  /** The platform's clock was set: sets the alarm anew to what is due next, and does what is due. */
  clockWasSet(name: string): Promise<void>;
}

/** The clock of the broker, which queues that are created later go by as well: development only. */
export interface DirectoryClock {
  clock(): Promise<ClockSetting>;
  advanceClock(ms: number): Promise<ClockSetting>;
  /** Stops the clock where it stands, or has it go on with real time. */
  freezeClock(isFrozen: boolean): Promise<ClockSetting>;
}

/** The directory's Durable Object as its callers see it. */
export interface DirectoryObject
  extends DirectoryRpc,
    TopicsRpc,
    TokensRpc,
    AuditRpc,
    QueuesDirectory,
    DirectoryClock,
    AlarmedObject,
    Rpc.DurableObjectBranded {}
