import type { QueueRecord } from "@sluice/protocol";
import { unreadableRecord } from "@sluice/protocol/schema";
import { checkedText, readChecked } from "./checked-json.ts";

/** Key in the table `meta` (`migrations.ts`) of a queue's copy of its record in the directory. */
export const RECORD_KEY = "record";

/** Makes the stored copy of a record. */
export function recordCopy(record: QueueRecord): string {
  return checkedText(record);
}

/** Reads a record from its stored copy; `null` if that is damaged. */
export function recordFrom(copy: string): QueueRecord | null {
  try {
    const record = readChecked(copy);
    return unreadableRecord(record) === null ? (record as QueueRecord) : null;
  } catch {
    return null;
  }
}

export const SELECT_RECORD = `SELECT value FROM meta WHERE key = '${RECORD_KEY}'`;
