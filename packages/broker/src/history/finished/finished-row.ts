import type { FinishedKind } from "@sluice/protocol";
import { checksumOf } from "../../store/checksum.ts";

/*
 * Layout of a row of finished messages, a contract, since stored data depends on it. All numbers are little endian: u32
 * checksum of all that follows; f64 number of the row, which grows with every row; f64 time of its last ending; u32
 * messages; u32 bytes of their records; u32 bytes of the endings; the endings as a JSON array in UTF-8; the records of
 * all endings, one after the other, as the protocol packs them.
 */

const OFFSET_NUMBER = 4;
const OFFSET_UNTIL = 12;
const OFFSET_MESSAGES = 20;
const OFFSET_RECORD_BYTES = 24;
const OFFSET_ENDING_BYTES = 28;
/** Bytes of a row before its endings. */
export const FINISHED_HEAD_BYTES = 32;

/**
 * How messages [from, to) of one segment ended, all alike.
 *
 * A contract, since stored data depends on it: members keep their meaning.
 */
export interface Ending {
  readonly kind: FinishedKind;
  /** Time in ms. */
  readonly t: number;
  readonly attempts: number;
  readonly segmentId: number;
  readonly from: number;
  readonly to: number;
  readonly by?: string;
  readonly error?: string;
}

/** Messages that ended together, with their records. */
export interface FinishedStretch {
  readonly ending: Ending;
  readonly records: Uint8Array;
}

/** Head of a row. */
export interface FinishedHead {
  readonly number: number;
  /** Time of the last ending in ms. */
  readonly untilMs: number;
  /** Messages of all endings, and bytes of their records. */
  readonly messages: number;
  readonly bytes: number;
}

export function encodeFinished(head: FinishedHead, stretches: readonly FinishedStretch[]): Uint8Array {
  const endings = new TextEncoder().encode(JSON.stringify(stretches.map(({ ending }) => ending)));
  const row = new Uint8Array(FINISHED_HEAD_BYTES + endings.byteLength + head.bytes);
  const view = new DataView(row.buffer);
  view.setFloat64(OFFSET_NUMBER, head.number, true);
  view.setFloat64(OFFSET_UNTIL, head.untilMs, true);
  view.setUint32(OFFSET_MESSAGES, head.messages, true);
  view.setUint32(OFFSET_RECORD_BYTES, head.bytes, true);
  view.setUint32(OFFSET_ENDING_BYTES, endings.byteLength, true);
  row.set(endings, FINISHED_HEAD_BYTES);
  let offset = FINISHED_HEAD_BYTES + endings.byteLength;
  for (const { records } of stretches) {
    row.set(records, offset);
    offset += records.byteLength;
  }
  view.setUint32(0, checksumOf(view, OFFSET_NUMBER, row.byteLength), true);
  return row;
}

/** Reads the head of a row, which may be damaged: only `readFinished` checks. `null` for bytes that are too few. */
export function readFinishedHead(row: Uint8Array): FinishedHead | null {
  if (row.byteLength < FINISHED_HEAD_BYTES) return null;
  const view = new DataView(row.buffer, row.byteOffset, row.byteLength);
  return {
    number: view.getFloat64(OFFSET_NUMBER, true),
    untilMs: view.getFloat64(OFFSET_UNTIL, true),
    messages: view.getUint32(OFFSET_MESSAGES, true),
    bytes: view.getUint32(OFFSET_RECORD_BYTES, true),
  };
}

/** Reads the endings of a row, oldest first, and the records of all of them; `null` for a row that is damaged. */
export function readFinished(row: Uint8Array): { endings: readonly Ending[]; records: Uint8Array } | null {
  if (row.byteLength < FINISHED_HEAD_BYTES) return null;
  const view = new DataView(row.buffer, row.byteOffset, row.byteLength);
  if (view.getUint32(0, true) !== checksumOf(view, OFFSET_NUMBER, row.byteLength)) return null;
  const end = FINISHED_HEAD_BYTES + view.getUint32(OFFSET_ENDING_BYTES, true);
  const text = new TextDecoder().decode(row.subarray(FINISHED_HEAD_BYTES, end));
  return { endings: JSON.parse(text) as Ending[], records: row.subarray(end) };
}
