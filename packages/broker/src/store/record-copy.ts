import type { QueueRecord } from "@sluice/protocol";
import { unreadableRecord } from "@sluice/protocol/schema";
import { checksumOfText } from "./checksum.ts";

/** Where a queue keeps, among its single values (`migrations.ts`), what the directory said last that it is. */
export const RECORD_KEY = "record";

/** Makes the stored copy of a record. A contract. */
export function recordCopy(record: QueueRecord): string {
  const text = JSON.stringify(record);
  return JSON.stringify([checksumOfText(text), text]);
}

/** The record that is stored there; `null` if that is damaged or cannot be read. */
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
