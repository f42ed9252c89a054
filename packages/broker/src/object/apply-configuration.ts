import type { DirectoryReply, QueueRecord } from "@sluice/protocol";
import type { QueueContext } from "../turn/context.ts";
import { onConfigured, QueueNotFoundError, type Registration } from "./registration.ts";

/** A queue that goes by what the directory says. */
export interface ConfigurableQueue {
  readonly core: Pick<QueueContext, "name">;
  readonly registration: Registration;
  readonly store: Pick<RecordStore, "readRecord">;
  /** Goes by the record from now on, unless something newer is known; resolves when that is durable. */
  adopt(record: QueueRecord): Promise<void>;
  /** Stores what the queue goes by, if that is not stored; resolves when it is durable. */
  keep(): Promise<void>;
}

/** Where a queue keeps a copy of what it is. */
export interface RecordStore {
  readRecord(): QueueRecord | null;
  writeRecord(record: QueueRecord): void;
}

/** Within a commit: writes what the queue goes by, if that is another revision than is stored. */
export function writeRecord({ record }: Registration, store: RecordStore): void {
  if (record !== null && record.revision !== store.readRecord()?.revision) store.writeRecord(record);
}

/**
 * The directory says what the queue is. Resolves when every later epoch goes by that too, whether or not it reaches the
 * directory: the directory does not say it again.
 *
 * @param beginAgain drops what the queue holds, which is a deleted one's, and opens it anew.
 * @returns whether the running queue goes by another record than before.
 */
export async function applyConfiguration(
  queue: ConfigurableQueue,
  record: QueueRecord,
  beginAgain: () => Promise<unknown>,
): Promise<boolean> {
  switch (onConfigured(queue.registration, record)) {
    case "ignore":
      // It may have heard it at its start, and have had nothing to commit since. A copy of an older record must not
      // outlive that.
      if (queue.store.readRecord() !== null) await queue.keep();
      return false;
    case "beginAgain":
      await beginAgain();
      return false;
    case "adopt":
      await queue.adopt(record);
      return true;
  }
}

/**
 * Messages of another queue have come: the queue is created if it does not exist (spec cloudflare-queues 4). Meanwhile
 * the directory can have said what it is, or that it was deleted again.
 *
 * @throws QueueNotFoundError in the last case; the messages come again.
 */
export async function createIfAbsent(
  { core, registration, adopt }: ConfigurableQueue,
  create: () => Promise<DirectoryReply>,
): Promise<void> {
  if (registration.definition !== undefined) return;
  const reply = await create();
  if (!reply.ok) throw new Error(`queue "${core.name}" cannot be created: ${reply.refusal.kind}`);
  if (onConfigured(registration, reply.record) === "adopt") await adopt(reply.record);
  if (registration.definition === undefined) throw new QueueNotFoundError(core.name);
}
