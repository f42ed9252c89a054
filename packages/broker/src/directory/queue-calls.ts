import type { DirectoryReply, DirectoryRpc, QueueRecord } from "@sluice/protocol";
import type { Mark } from "../mark.ts";
import type { Undeliverable } from "../pass-on.ts";
import type { MarkDirectory } from "../watermark.ts";
import type { Standing } from "./standing.ts";

/* What queues' objects and the directory ask each other. */

/** What a queue's object learns at its start, in one call. */
export interface Opened {
  /** How far the queue had come by its latest report, `null` if it never made one. */
  readonly mark: Mark | null;
  readonly standing: Standing;
  /** Whether it is known to be at rest, as of that report. */
  readonly isAtRest: boolean;
  /** Of a topic's object: the version of its topic, `null` if that is no more. Absent for a queue. */
  readonly topicVersion?: number | null;
  /** What the directory has lost of it, to go on with "the directory ..."; `null` if nothing, as far as that shows. */
  readonly directoryLoss: string | null;
}

/** What queues' objects ask the directory. */
export interface QueuesDirectory extends Pick<MarkDirectory, "report">, Pick<DirectoryRpc, "findByName"> {
  /**
   * A queue's object has started.
   *
   * @param copy what it was by what it last knew: a directory that has lost its data takes it from there.
   */
  opened(queue: string, copy: QueueRecord | null): Promise<Opened>;
  /** The queue of a name, created if there is none: dead letters have come for it. */
  ensureQueue(queue: string): Promise<DirectoryReply>;
  /** What becomes of messages of a topic for a queue that does not exist (any more). */
  undeliverable(topicObject: string, queue: string): Promise<Undeliverable>;
}

/** What a queue's object has to answer to the directory. */
export interface ConfiguredQueueObject extends Rpc.DurableObjectBranded {
  /** Goes by the record from now on, unless a later one is known. */
  configure(queue: string, record: QueueRecord): Promise<void>;
  /** Drops everything, unless the queue was created again after `revision`. */
  clear(queue: string, revision: number): Promise<void>;
  /**
   * A topic has changed: who goes by an older version is refused from now on. Everybody is by `null`, for a topic that was
   * deleted.
   */
  topicChanged(topicObject: string, version: number | null): Promise<void>;
}
