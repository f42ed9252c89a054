import type { PackedIndex } from "./packed.ts";
import { OFFSET_CONTENT_TYPE, RECORD_HEADER_BYTES } from "./packed-layout.ts";

/** Number of no content type. Never stored: in memory it marks bytes that damage has changed. */
const NO_CONTENT_TYPE = 0xff;

/**
 * Replaces the bytes [from, to) of a packed batch by one record that no consumer can read. The records around it stay
 * where they are. Throws RangeError for less than a header.
 */
export function makeUnreadable(packed: Uint8Array, from: number, to: number): void {
  if (to - from < RECORD_HEADER_BYTES) throw new RangeError(`no record has ${to - from} bytes`);
  packed.fill(0, from, to);
  new DataView(packed.buffer, packed.byteOffset, packed.byteLength).setUint32(
    from,
    to - from - RECORD_HEADER_BYTES,
    true,
  );
  packed[from + OFFSET_CONTENT_TYPE] = NO_CONTENT_TYPE;
}

/** Whether a consumer can read record i. Every record is stored readable, so any other one is damaged. */
export function isReadable(index: PackedIndex, i: number): boolean {
  return index.contentType(i) !== undefined;
}
