import type { PackedIndex } from "./packed.ts";
import { OFFSET_CONTENT_TYPE, RECORD_HEADER_BYTES } from "./packed-layout.ts";

/** Names no content type. Part of no stored format: it stands in memory for bytes that are not what was stored. */
const NO_CONTENT_TYPE = 0xff;

/**
 * Replaces what lies in [from, to) of packed bytes by one record that nobody can read. The records around it stay where
 * they are. Throws RangeError for less than a header.
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

/** Whether a consumer could read record i. What is stored always could, so one that it could not is damaged. */
export function isReadable(index: PackedIndex, i: number): boolean {
  return index.contentType(i) !== undefined;
}
