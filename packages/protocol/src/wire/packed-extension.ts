import { PackedFormatError } from "./packed-layout.ts";

/**
 * Fields that dialects other than Cloudflare's add to a message, between its header and its body. Most messages have
 * none of them, and then not a byte either.
 *
 * A contract: these bytes are stored. A sequence of fields, little endian: u8 tag, u32 length, that many bytes. Tags
 * are never given another meaning; a reader skips unknown ones.
 */
export interface MessageExtension {
  /** The message group (spec sqs 4.2, 8). On a FIFO queue, messages without one share a group of their own. */
  readonly groupId?: string;
  /** Deduplication id (spec sqs 4.3): the client's, or the hash of the body. */
  readonly deduplicationId?: string;
  /** Attributes of the message as its dialect encodes them; opaque to all other code. */
  readonly attributes?: Uint8Array;
  /** The queue whose dead-letter queue this message was moved to (spec sqs 5.5, 6.1). */
  readonly deadLetterSource?: string;
  /**
   * The queue whose `dead_letter_queue` this message was moved to: where a move task takes it back. Unlike a message
   * with `deadLetterSource` it keeps no age, and its size is counted without this (spec cloudflare-queues 4).
   */
  readonly deadLetterOf?: string;
  /** Set on messages that the worker daemon itself sends for a periodic task (spec sqsd 8.3), and on no others. */
  readonly isPeriodicTask?: true;
  /** Past of the message in earlier queues (`MessagePast` as JSON). No part of its size. */
  readonly past?: Uint8Array;
  /** Trace context of the message, as `encodeTrace` writes it. No part of its size. */
  readonly trace?: Uint8Array;
}

const TAG_GROUP_ID = 1;
const TAG_DEDUPLICATION_ID = 2;
const TAG_ATTRIBUTES = 3;
const TAG_DEAD_LETTER_SOURCE = 4;
const TAG_PERIODIC_TASK = 5;
const TAG_DEAD_LETTER_OF = 6;
const TAG_PAST = 7;
const TAG_TRACE = 8;
const FIELD_HEADER_BYTES = 5;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const NO_BYTES = new Uint8Array();

/** The extension area of a record; no bytes for an extension that says nothing. */
export function encodeExtension(extension: MessageExtension): Uint8Array {
  const fields: [tag: number, bytes: Uint8Array][] = [];
  const { groupId, deduplicationId, attributes, deadLetterSource, deadLetterOf } = extension;
  if (groupId !== undefined) fields.push([TAG_GROUP_ID, encoder.encode(groupId)]);
  if (deduplicationId !== undefined) fields.push([TAG_DEDUPLICATION_ID, encoder.encode(deduplicationId)]);
  if (attributes !== undefined) fields.push([TAG_ATTRIBUTES, attributes]);
  if (deadLetterSource !== undefined) fields.push([TAG_DEAD_LETTER_SOURCE, encoder.encode(deadLetterSource)]);
  if (deadLetterOf !== undefined) fields.push([TAG_DEAD_LETTER_OF, encoder.encode(deadLetterOf)]);
  if (extension.past !== undefined) fields.push([TAG_PAST, extension.past]);
  if (extension.trace !== undefined) fields.push([TAG_TRACE, extension.trace]);
  if (extension.isPeriodicTask === true) fields.push([TAG_PERIODIC_TASK, NO_BYTES]);
  if (fields.length === 0) return NO_BYTES;
  const length = fields.reduce((sum, [, bytes]) => sum + FIELD_HEADER_BYTES + bytes.byteLength, 0);
  const encoded = new Uint8Array(length);
  const view = new DataView(encoded.buffer);
  let offset = 0;
  for (const [tag, bytes] of fields) {
    encoded[offset] = tag;
    view.setUint32(offset + 1, bytes.byteLength, true);
    encoded.set(bytes, offset + FIELD_HEADER_BYTES);
    offset += FIELD_HEADER_BYTES + bytes.byteLength;
  }
  return encoded;
}

/**
 * Reads an extension area. Bytes in it are views, not copies. Throws `PackedFormatError` on a field that is cut off.
 */
export function decodeExtension(bytes: Uint8Array): MessageExtension {
  const extension: { -readonly [Name in keyof MessageExtension]: MessageExtension[Name] } = {};
  visitFields(bytes, (tag, from, end) => {
    switch (tag) {
      case TAG_GROUP_ID:
        extension.groupId = decoder.decode(bytes.subarray(from, end));
        break;
      case TAG_DEDUPLICATION_ID:
        extension.deduplicationId = decoder.decode(bytes.subarray(from, end));
        break;
      case TAG_ATTRIBUTES:
        extension.attributes = bytes.subarray(from, end);
        break;
      case TAG_DEAD_LETTER_SOURCE:
        extension.deadLetterSource = decoder.decode(bytes.subarray(from, end));
        break;
      case TAG_DEAD_LETTER_OF:
        extension.deadLetterOf = decoder.decode(bytes.subarray(from, end));
        break;
      case TAG_PAST:
        extension.past = bytes.subarray(from, end);
        break;
      case TAG_TRACE:
        extension.trace = bytes.subarray(from, end);
        break;
      case TAG_PERIODIC_TASK:
        extension.isPeriodicTask = true;
        break;
    }
  });
  return extension;
}

/** Whether an extension area can be read. Decodes nothing. */
export function isReadableExtension(bytes: Uint8Array): boolean {
  try {
    visitFields(bytes, () => {});
    return true;
  } catch (error) {
    if (error instanceof PackedFormatError) return false;
    throw error;
  }
}

/** Calls `visit` with each field, its content in [from, end). Throws `PackedFormatError` on one that is cut off. */
function visitFields(bytes: Uint8Array, visit: (tag: number, from: number, end: number) => void): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let offset = 0;
  while (offset < bytes.byteLength) {
    const from = offset + FIELD_HEADER_BYTES;
    const end = from <= bytes.byteLength ? from + view.getUint32(offset + 1, true) : Infinity;
    if (end > bytes.byteLength)
      throw new PackedFormatError(`a field of an extension is cut off at ${offset}`);
    visit(view.getUint8(offset), from, end);
    offset = end;
  }
}

/** Sums the bytes of an extension area that do not count for the size of its message. */
export function uncountedBytes({ deadLetterOf, past, trace }: MessageExtension): number {
  const source =
    deadLetterOf === undefined ? 0 : FIELD_HEADER_BYTES + encoder.encode(deadLetterOf).byteLength;
  return source + bytesOfField(past) + bytesOfField(trace);
}

function bytesOfField(bytes: Uint8Array | undefined): number {
  return bytes === undefined ? 0 : FIELD_HEADER_BYTES + bytes.byteLength;
}
