import type {
  AuditRpc,
  ClockSetting,
  DirectoryReply,
  DirectoryRpc,
  Jurisdiction,
  QueueAtRest,
  QueueRecord,
  R2Rpc,
  TokensRpc,
  TopicsRpc,
} from "@sluice/protocol";
import type { CommitPosition } from "./commit-position.ts";
import type { QueueStatus } from "./queue-status.ts";
import type { Undeliverable } from "./transfer.ts";

export { DIRECTORY_NAME } from "@sluice/protocol";

/** Reply of the directory to an object of a queue or a topic that starts. */
export interface Opened {
  /** Position of the queue by its latest report, `null` if there was none. */
  readonly position: CommitPosition | null;
  readonly status: QueueStatus;
  /** Whether the queue was idle by that report. */
  readonly isIdle: boolean;
  /** Version of the topic, `null` if that was deleted. Absent for the object of a queue. */
  readonly topicVersion?: number | null;
  /** Setting of the broker's clock; absent if it goes by real time and was never set. */
  readonly clock?: ClockSetting;
  /** Loss in the directory that the queue's copy shows, to continue "the directory ..."; `null` if nothing. */
  readonly directoryLoss: string | null;
}

/** Calls of queues' objects to the directory. */
export interface QueuesDirectory extends Pick<DirectoryRpc, "findByName"> {
  /**
   * Notes that a queue's object has started.
   *
   * @param copy of the queue's record, from which a directory that has lost its data restores it.
   */
  opened(queue: string, copy: QueueRecord | null): Promise<Opened>;
  /**
   * Takes a report. It can be late, so no number gets smaller.
   *
   * @param snapshot `null` if the queue is not idle.
   * @returns the position known before it.
   */
  report(
    queue: string,
    position: CommitPosition,
    snapshot: QueueAtRest | null,
  ): Promise<CommitPosition | null>;
  /**
   * Finds the queue of a name, or creates it, because dead letters come for it.
   *
   * @param jurisdiction that of the queue which they come from. Default: none.
   */
  ensureQueue(queue: string, jurisdiction?: Jurisdiction | null): Promise<DirectoryReply>;
  /** Decides whether messages of a topic for a missing queue are dead-lettered or dropped. */
  undeliverable(topicObject: string, queue: string): Promise<Undeliverable>;
}

/** Object with an alarm of the platform. */
export interface AlarmedObject {
  /** Does due work and sets the alarm anew, after the platform's clock was set. */
  clockWasSet(name: string): Promise<void>;
}

/** Clock of the broker, which queues that are created later use as well. In development only. */
export interface DirectoryClock {
  clock(): Promise<ClockSetting>;
  advanceClock(ms: number): Promise<ClockSetting>;
  /** Stops the clock, or lets it run on with real time. */
  freezeClock(isFrozen: boolean): Promise<ClockSetting>;
}

/** Calls to the directory's Durable Object. */
export interface DirectoryObject
  extends DirectoryRpc,
    TopicsRpc,
    TokensRpc,
    AuditRpc,
    R2Rpc,
    QueuesDirectory,
    DirectoryClock,
    AlarmedObject,
    Rpc.DurableObjectBranded {}
