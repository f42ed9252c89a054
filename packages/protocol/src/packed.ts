import { CONTENT_TYPES, type ContentType } from "./content-type.ts";

/**
 * The packed batch: what a producer sends, what the store keeps and what a consumer receives, without being encoded
 * again in between. It is a plain concatenation of records, so joining two batches is joining their bytes.
 *
 * A record, little endian (a contract: these bytes are stored):
 *
 * | offset | size | field |
 * |---|---|---|
 * | 0 | u32 | length of the body in bytes |
 * | 4 | u16 | length of the extension area (attributes of other dialects) in bytes |
 * | 6 | u8  | content type, index into `CONTENT_TYPES` |
 * | 7 | u8  | flags: bit 0 = the message names its own delay |
 * | 8 | i32 | that delay in seconds |
 * | 12 | u32 | reserved, 0 |
 * | 16 | f64 | time of the send in ms since 1970; 0 until the broker accepts the message |
 * | 24 | 16 B | message id |
 * | 40 | | extension area, then body |
 */
export const RECORD_HEADER_BYTES = 40;
export const MESSAGE_ID_BYTES = 16;

const FLAG_OWN_DELAY = 1;
const OFFSET_EXTENSION_BYTES = 4;
const OFFSET_CONTENT_TYPE = 6;
const OFFSET_FLAGS = 7;
const OFFSET_DELAY = 8;
const OFFSET_TIMESTAMP = 16;
const OFFSET_ID = 24;

/** A message about to be packed. */
export interface MessageToPack {
  /** 32 hex characters. */
  readonly id: string;
  readonly contentType: ContentType;
  readonly body: Uint8Array;
  /** The message's own delay; absent means that batch, binding or queue decide. */
  readonly delaySeconds?: number;
  /** Time of the original send in ms; 0 or absent lets the broker stamp it. */
  readonly timestampMs?: number;
}

/** A message read back. `body` is a view into the packed bytes, not a copy. */
export interface UnpackedMessage {
  readonly id: string;
  readonly contentType: ContentType;
  readonly timestampMs: number;
  readonly delaySeconds: number | undefined;
  readonly body: Uint8Array;
}

/** Bytes that are not a packed batch: a bug or a damaged row, never a user's mistake. */
export class PackedFormatError extends Error {
  override readonly name = "PackedFormatError";
}

/** Packs messages into one buffer. */
export function packMessages(messages: readonly MessageToPack[]): Uint8Array<ArrayBuffer> {
  let totalBytes = 0;
  for (const message of messages) totalBytes += RECORD_HEADER_BYTES + message.body.byteLength;
  const packed = new Uint8Array(totalBytes);
  const view = new DataView(packed.buffer);
  let offset = 0;
  for (const message of messages) {
    view.setUint32(offset, message.body.byteLength, true);
    packed[offset + OFFSET_CONTENT_TYPE] = CONTENT_TYPES.indexOf(message.contentType);
    if (message.delaySeconds !== undefined) {
      packed[offset + OFFSET_FLAGS] = FLAG_OWN_DELAY;
      view.setInt32(offset + OFFSET_DELAY, message.delaySeconds, true);
    }
    view.setFloat64(offset + OFFSET_TIMESTAMP, message.timestampMs ?? 0, true);
    writeHex(packed, offset + OFFSET_ID, message.id);
    packed.set(message.body, offset + RECORD_HEADER_BYTES);
    offset += RECORD_HEADER_BYTES + message.body.byteLength;
  }
  return packed;
}

/** Reads every message of a packed batch. Throws `PackedFormatError` on bytes that are none. */
export function unpackMessages(packed: Uint8Array): UnpackedMessage[] {
  const index = new PackedIndex(packed);
  const messages: UnpackedMessage[] = [];
  for (let i = 0; i < index.count; i++) messages.push(index.message(i));
  return messages;
}

/**
 * Where each record of a packed batch lies. Building it touches the fixed headers only; the broker lives on this and
 * never looks at a body.
 */
export class PackedIndex {
  readonly packed: Uint8Array;
  /** Byte offset of record i; the entry after the last record is the length of the batch. */
  readonly offsets: Uint32Array;
  readonly #view: DataView;

  constructor(packed: Uint8Array) {
    this.packed = packed;
    this.#view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
    const offsets: number[] = [];
    let offset = 0;
    while (offset < packed.byteLength) {
      offsets.push(offset);
      if (offset + RECORD_HEADER_BYTES > packed.byteLength) {
        throw new PackedFormatError(
          `record ${offsets.length - 1} starts at ${offset} and its header is cut off`,
        );
      }
      offset +=
        RECORD_HEADER_BYTES +
        this.#view.getUint16(offset + OFFSET_EXTENSION_BYTES, true) +
        this.#view.getUint32(offset, true);
    }
    if (offset !== packed.byteLength) {
      throw new PackedFormatError(`the last record ends at ${offset}, the batch at ${packed.byteLength}`);
    }
    offsets.push(offset);
    this.offsets = Uint32Array.from(offsets);
  }

  /** How many messages there are. */
  get count(): number {
    return this.offsets.length - 1;
  }

  /** Size of the body of message i, in bytes. */
  bodyBytes(i: number): number {
    return this.#view.getUint32(this.#offset(i), true);
  }

  /** The delay that message i names itself, in seconds, unvalidated. */
  delaySeconds(i: number): number | undefined {
    const offset = this.#offset(i);
    if (((this.packed[offset + OFFSET_FLAGS] ?? 0) & FLAG_OWN_DELAY) === 0) return undefined;
    return this.#view.getInt32(offset + OFFSET_DELAY, true);
  }

  /** Time of the send of message i in ms, 0 if the broker has not accepted it yet. */
  timestampMs(i: number): number {
    return this.#view.getFloat64(this.#offset(i) + OFFSET_TIMESTAMP, true);
  }

  /** Stamps message i with the time of its send. Writes into the packed bytes. */
  stamp(i: number, timestampMs: number): void {
    this.#view.setFloat64(this.#offset(i) + OFFSET_TIMESTAMP, timestampMs, true);
  }

  /** Takes the own delay of message i away: it was served in the queue that the message comes from. */
  clearDelay(i: number): void {
    const flagsAt = this.#offset(i) + OFFSET_FLAGS;
    this.packed[flagsAt] = (this.packed[flagsAt] ?? 0) & ~FLAG_OWN_DELAY;
  }

  /** Id of message i: 32 hex characters. */
  id(i: number): string {
    return readHex(this.packed, this.#offset(i) + OFFSET_ID);
  }

  message(i: number): UnpackedMessage {
    const offset = this.#offset(i);
    const contentType = CONTENT_TYPES[this.packed[offset + OFFSET_CONTENT_TYPE] ?? -1];
    if (contentType === undefined) {
      throw new PackedFormatError(
        `record ${i} has the unknown content type ${this.packed[offset + OFFSET_CONTENT_TYPE]}`,
      );
    }
    const bodyOffset =
      offset + RECORD_HEADER_BYTES + this.#view.getUint16(offset + OFFSET_EXTENSION_BYTES, true);
    return {
      id: this.id(i),
      contentType,
      timestampMs: this.timestampMs(i),
      delaySeconds: this.delaySeconds(i),
      body: this.packed.subarray(bodyOffset, bodyOffset + this.bodyBytes(i)),
    };
  }

  /** The records [from, to) as a view. */
  records(from: number, to: number): Uint8Array {
    return this.packed.subarray(this.#offset(from), this.#offset(to));
  }

  #offset(i: number): number {
    const offset = this.offsets[i];
    if (offset === undefined) throw new RangeError(`record ${i} of ${this.count}`);
    return offset;
  }
}

/** Joins packed batches. One batch is returned as it is. */
export function joinPacked(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  let totalBytes = 0;
  for (const part of parts) totalBytes += part.byteLength;
  const joined = new Uint8Array(totalBytes);
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.byteLength;
  }
  return joined;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

function readHex(bytes: Uint8Array, offset: number): string {
  let hex = "";
  for (let i = 0; i < MESSAGE_ID_BYTES; i++) hex += HEX[bytes[offset + i] ?? 0];
  return hex;
}

function writeHex(bytes: Uint8Array, offset: number, hex: string): void {
  for (let i = 0; i < MESSAGE_ID_BYTES; i++) {
    const byte = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16);
    if (Number.isNaN(byte)) throw new PackedFormatError(`"${hex}" is not a message id of 32 hex characters`);
    bytes[offset + i] = byte;
  }
}
