import { checksumOf } from "../../store/checksum.ts";
import type { StoredEvent } from "./event.ts";

/*
 * Layout of a row of the journal, a contract, since stored data depends on it: u32 checksum of all that follows; four
 * f64, little endian: the numbers of the first and the last event, the lowest and the highest segment that they name;
 * the events as a JSON array in UTF-8. A story reads the heads of all rows, and the events of those that it needs.
 */

const OFFSET_FIRST = 4;
const OFFSET_LAST = 12;
const OFFSET_LOW = 20;
const OFFSET_HIGH = 28;
/** Bytes of a row before its events. */
export const ROW_HEAD_BYTES = 36;

/** Head of a row: the range of its events' numbers, and of the segments that they name. */
export interface RowHead {
  readonly first: number;
  readonly last: number;
  readonly low: number;
  readonly high: number;
}

const encoder = new TextEncoder();

/** Encodes a row. @param events each as JSON. */
export function encodeRow({ first, last, low, high }: RowHead, events: readonly string[]): Uint8Array {
  const text = encoder.encode(`[${events.join(",")}]`);
  const bytes = new Uint8Array(ROW_HEAD_BYTES + text.byteLength);
  const view = new DataView(bytes.buffer);
  view.setFloat64(OFFSET_FIRST, first, true);
  view.setFloat64(OFFSET_LAST, last, true);
  view.setFloat64(OFFSET_LOW, low, true);
  view.setFloat64(OFFSET_HIGH, high, true);
  bytes.set(text, ROW_HEAD_BYTES);
  view.setUint32(0, checksumOf(view, OFFSET_FIRST, bytes.byteLength), true);
  return bytes;
}

/**
 * Reads the head of a row; `null` for bytes that are too few, and for numbers that no row has. Other damage of it goes
 * unnoticed: the checksum covers the events too, and only `readText` reads those.
 */
export function readHead(bytes: Uint8Array): RowHead | null {
  if (bytes.byteLength < ROW_HEAD_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const head = {
    first: view.getFloat64(OFFSET_FIRST, true),
    last: view.getFloat64(OFFSET_LAST, true),
    low: view.getFloat64(OFFSET_LOW, true),
    high: view.getFloat64(OFFSET_HIGH, true),
  };
  return Object.values(head).every((value) => value >= 0 && value <= Number.MAX_SAFE_INTEGER) ? head : null;
}

/** Reads the text of a row's events; `null` for a row that is damaged. */
export function readText(bytes: Uint8Array): string | null {
  if (bytes.byteLength < ROW_HEAD_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0, true) !== checksumOf(view, OFFSET_FIRST, bytes.byteLength)) return null;
  return new TextDecoder().decode(bytes.subarray(ROW_HEAD_BYTES));
}

/** Returns the range of segments that an event names; all segments if it names none. */
export function segmentsOf(event: StoredEvent): { readonly low: number; readonly high: number } {
  const { at } = event;
  if (at === undefined || at.length === 0) return { low: 0, high: Number.MAX_SAFE_INTEGER };
  let low = Infinity;
  let high = 0;
  for (let i = 0; i < at.length; i += 3) {
    low = Math.min(low, at[i] ?? 0);
    high = Math.max(high, at[i] ?? 0);
  }
  return { low, high };
}
