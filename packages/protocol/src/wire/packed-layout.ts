/**
 * The packed batch: what a producer sends, what the store keeps and what a consumer receives, without being encoded
 * again in between. It is a plain concatenation of records, so joining two batches is joining their bytes.
 *
 * A record, little endian (a contract: these bytes are stored):
 *
 * | offset | size | field |
 * |---|---|---|
 * | 0 | u32 | length of the body in bytes |
 * | 4 | u16 | receives in the queues that the message was in before, at most 65,535 |
 * | 6 | u8  | content type, index into `CONTENT_TYPES` |
 * | 7 | u8  | flags: bit 0 = the message names its own delay |
 * | 8 | i32 | that delay in seconds |
 * | 12 | u32 | length of the extension area in bytes (`MessageExtension`) |
 * | 16 | f64 | time of the send in ms since 1970; 0 until the broker accepts the message |
 * | 24 | 16 B | message id |
 * | 40 | | extension area, then body |
 */
export const RECORD_HEADER_BYTES = 40;
export const MESSAGE_ID_BYTES = 16;

export const EARLIER_RECEIVES_MAX = 65_535;

export const FLAG_OWN_DELAY = 1;
export const OFFSET_EARLIER_RECEIVES = 4;
export const OFFSET_CONTENT_TYPE = 6;
export const OFFSET_FLAGS = 7;
export const OFFSET_DELAY = 8;
export const OFFSET_EXTENSION_BYTES = 12;
export const OFFSET_TIMESTAMP = 16;
export const OFFSET_ID = 24;

/**
 * End of the record that begins at `offset`, `null` if its header or what that promises is cut off.
 *
 * @param view of the whole packed bytes.
 */
export function recordEnd(view: DataView, offset: number): number | null {
  if (offset + RECORD_HEADER_BYTES > view.byteLength) return null;
  const contentBytes = view.getUint32(offset + OFFSET_EXTENSION_BYTES, true) + view.getUint32(offset, true);
  const end = offset + RECORD_HEADER_BYTES + contentBytes;
  return end <= view.byteLength ? end : null;
}

/** How a body was turned into bytes (spec cloudflare-queues 1.2). */
export type ContentType = "text" | "bytes" | "json" | "v8";

/** In wire order: the index of a name is its number in a packed record. A contract: append, never reorder. */
export const CONTENT_TYPES: readonly ContentType[] = ["text", "bytes", "json", "v8"];

/** Whether a text names a content type, in the spelling of the wire. */
export function isContentType(name: string): name is ContentType {
  return (CONTENT_TYPES as readonly string[]).includes(name);
}

/** Bytes that are not a packed batch: a bug or a damaged row, never a user's mistake. */
export class PackedFormatError extends Error {
  override readonly name = "PackedFormatError";
}
