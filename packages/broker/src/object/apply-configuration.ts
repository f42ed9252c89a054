import type { DirectoryReply, QueueRecord } from "@sluice/protocol";
import type { QueueContext } from "../turn/context.ts";
import { onConfigured, QueueNotFoundError, type Registration } from "./registration.ts";

/** An open queue whose record can be replaced. */
export interface ConfigurableQueue {
  readonly core: Pick<QueueContext, "name">;
  readonly registration: Registration;
  readonly store: Pick<RecordStore, "readRecord">;
  /** Takes a record in the place of the present one, unless that is newer. Resolves when it is durable. */
  readonly adopt: (record: QueueRecord) => Promise<void>;
  /** Stores the present record, unless it is stored. Resolves when it is durable. */
  readonly keep: () => Promise<void>;
}

/** Where a queue keeps a copy of its record. */
export interface RecordStore {
  readRecord(): QueueRecord | null;
  writeRecord(record: QueueRecord): void;
}

/** Within a commit: writes the present record, if another revision is stored. */
export function writeRecord({ record }: Registration, store: RecordStore): void {
  if (record !== null && record.revision !== store.readRecord()?.revision) store.writeRecord(record);
}

/**
 * Applies a record that the directory has sent. Resolves when it is durable here: the directory sends it once, and a
 * later epoch may be unable to ask.
 *
 * @param beginAgain drops the data, which are those of a deleted queue of this name, and opens the queue anew.
 * @returns whether this open queue has taken the record. One that was opened anew reports that itself.
 */
export async function applyConfiguration(
  queue: ConfigurableQueue,
  record: QueueRecord,
  beginAgain: () => Promise<unknown>,
): Promise<boolean> {
  switch (onConfigured(queue.registration, record)) {
    case "ignore":
      // The queue may have learned the record when it opened, and have had no commit since: its stored copy is older.
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
 * Creates the queue that another one transfers messages to, if it does not exist (spec cloudflare-queues 4). While the
 * directory answers, the queue may come to exist, or be deleted again.
 *
 * @throws QueueNotFoundError if it was deleted; the sender transfers the messages again.
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
