import type { QueueRecord } from "@sluice/protocol";
import { unreadableRecord } from "@sluice/protocol/schema";
import { checksumOfText } from "./checksum.ts";

/** Key in the table `meta` (`migrations.ts`) of a queue's copy of its record in the directory. */
export const RECORD_KEY = "record";

/** Makes the stored copy of a record. A contract, since stored data depends on it: `[checksum, JSON]`. */
export function recordCopy(record: QueueRecord): string {
  const text = JSON.stringify(record);
  return JSON.stringify([checksumOfText(text), text]);
}

/** Reads a record from its stored copy; `null` if that is damaged. */
export function recordFrom(copy: string): QueueRecord | null {
  try {
    const [checksum, text] = JSON.parse(copy) as [number, string];
    if (checksum !== checksumOfText(text)) return null;
    const record: unknown = JSON.parse(text);
    return unreadableRecord(record) === null ? (record as QueueRecord) : null;
  } catch {
    return null;
  }
}

export const SELECT_RECORD = `SELECT value FROM meta WHERE key = '${RECORD_KEY}'`;
