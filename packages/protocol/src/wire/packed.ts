import {
  decodeExtension,
  encodeExtension,
  isReadableExtension,
  type MessageExtension,
  uncountedBytes,
} from "./packed-extension.ts";
import { bytesOfHex, readHex, readHexes, readUuid } from "./packed-ids.ts";
import {
  CONTENT_TYPES,
  type ContentType,
  EARLIER_RECEIVES_MAX,
  FLAG_OWN_DELAY,
  OFFSET_CONTENT_TYPE,
  OFFSET_DELAY,
  OFFSET_EARLIER_RECEIVES,
  OFFSET_EXTENSION_BYTES,
  OFFSET_FLAGS,
  OFFSET_ID,
  OFFSET_TIMESTAMP,
  PackedFormatError,
  RECORD_HEADER_BYTES,
} from "./packed-layout.ts";
import { PackedWriter } from "./packed-writer.ts";

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
  /** Fields of other dialects. */
  readonly extension?: MessageExtension;
  /** Receives in the queues that the message was in before. */
  readonly earlierReceives?: number;
}

/** A message read back. `body` is a view into the packed bytes, not a copy. */
export interface UnpackedMessage {
  readonly id: string;
  readonly contentType: ContentType;
  readonly timestampMs: number;
  readonly delaySeconds: number | undefined;
  readonly body: Uint8Array;
}

/** Packs messages into one buffer. Throws `PackedFormatError` on an id that is not 32 hex characters. */
export function packMessages(messages: readonly MessageToPack[]): Uint8Array<ArrayBuffer> {
  const writer = new PackedWriter();
  for (const { extension, ...message } of messages) {
    const encoded = extension === undefined ? {} : { extension: encodeExtension(extension) };
    writer.append({ ...message, ...encoded, id: bytesOfHex(message.id) });
  }
  return writer.slice(0, writer.byteLength);
}

/** Reads every message of a packed batch. Throws `PackedFormatError` on bytes that are none. */
export function unpackMessages(packed: Uint8Array): UnpackedMessage[] {
  const index = new PackedIndex(packed);
  const messages: UnpackedMessage[] = [];
  for (let i = 0; i < index.count; i++) messages.push(index.message(i));
  return messages;
}

/**
 * Index of the records of a packed batch. Building it reads the fixed headers only; the broker uses nothing else, and
 * never reads a body.
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
        this.#view.getUint32(offset + OFFSET_EXTENSION_BYTES, true) +
        this.#view.getUint32(offset, true);
    }
    if (offset !== packed.byteLength) {
      throw new PackedFormatError(`the last record ends at ${offset}, the batch at ${packed.byteLength}`);
    }
    offsets.push(offset);
    this.offsets = new Uint32Array(offsets);
  }

  /** How many messages there are. */
  get count(): number {
    return this.offsets.length - 1;
  }

  /** Size of the body of message i, in bytes. */
  bodyBytes(i: number): number {
    return this.#view.getUint32(this.#offset(i), true);
  }

  /** Size of message i without its header, in bytes: its body and its extension. */
  contentBytes(i: number): number {
    return this.#offset(i + 1) - this.#offset(i) - RECORD_HEADER_BYTES;
  }

  /** Size of message i against its limit, in bytes. Throws `PackedFormatError` when its extension cannot be read. */
  countedBytes(i: number): number {
    return this.contentBytes(i) - (this.hasExtension(i) ? uncountedBytes(this.extension(i)) : 0);
  }

  /** Content type of message i; `undefined` for a number that is none. */
  contentType(i: number): ContentType | undefined {
    return CONTENT_TYPES[this.packed[this.#offset(i) + OFFSET_CONTENT_TYPE] ?? -1];
  }

  /** Content type of message i. Throws `PackedFormatError` for a number that is none. */
  knownContentType(i: number): ContentType {
    const contentType = this.contentType(i);
    if (contentType !== undefined) return contentType;
    const number = this.packed[this.#offset(i) + OFFSET_CONTENT_TYPE];
    throw new PackedFormatError(`record ${i} has the unknown content type ${number}`);
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

  /** Receives of message i in the queues that it was in before. */
  earlierReceives(i: number): number {
    return this.#view.getUint16(this.#offset(i) + OFFSET_EARLIER_RECEIVES, true);
  }

  /** Whether message i has fields of other dialects. Decodes nothing. */
  hasExtension(i: number): boolean {
    return this.#extensionBytes(this.#offset(i)) > 0;
  }

  /**
   * Decodes the fields of other dialects in message i; `{}` if it has none. Throws `PackedFormatError` when they cannot
   * be read.
   */
  extension(i: number): MessageExtension {
    return this.hasExtension(i) ? decodeExtension(this.#extension(i)) : {};
  }

  /** Whether the fields of other dialects in message i can be read, if it has any. */
  hasReadableExtension(i: number): boolean {
    return !this.hasExtension(i) || isReadableExtension(this.#extension(i));
  }

  /** Id of message i: 32 hex characters. */
  id(i: number): string {
    return readHex(this.packed, this.#offset(i) + OFFSET_ID);
  }

  /** Ids of all messages. */
  ids(): string[] {
    return readHexes(
      this.packed,
      this.offsets.subarray(0, this.count).map((offset) => offset + OFFSET_ID),
    );
  }

  /** Id of message i, as a UUID. */
  uuid(i: number): string {
    return readUuid(this.packed, this.#offset(i) + OFFSET_ID);
  }

  /** Body of message i as it is stored: a view. */
  body(i: number): Uint8Array {
    const offset = this.#offset(i);
    const from = offset + RECORD_HEADER_BYTES + this.#extensionBytes(offset);
    return this.packed.subarray(from, from + this.bodyBytes(i));
  }

  message(i: number): UnpackedMessage {
    return {
      id: this.id(i),
      contentType: this.knownContentType(i),
      timestampMs: this.timestampMs(i),
      delaySeconds: this.delaySeconds(i),
      body: this.body(i),
    };
  }

  /** The records [from, to) as a view. */
  records(from: number, to: number): Uint8Array {
    return this.packed.subarray(this.#offset(from), this.#offset(to));
  }

  #extension(i: number): Uint8Array {
    const from = this.#offset(i) + RECORD_HEADER_BYTES;
    return this.packed.subarray(from, from + this.#extensionBytes(this.#offset(i)));
  }

  #extensionBytes(offset: number): number {
    return this.#view.getUint32(offset + OFFSET_EXTENSION_BYTES, true);
  }

  #offset(i: number): number {
    const offset = this.offsets[i];
    if (offset === undefined) throw new RangeError(`record ${i} of ${this.count}`);
    return offset;
  }
}

/** Changes to the record of a message that goes to another queue. */
export interface RecordChange {
  /** 32 hex characters; absent keeps the id. */
  readonly id?: string;
  /** 0 lets the next queue stamp it; absent keeps the time of the send. */
  readonly timestampMs?: number;
  readonly earlierReceives?: number;
  /** Takes the place of the whole extension; absent keeps it. */
  readonly extension?: MessageExtension;
}

/** Copies record i with changes, and without its own delay: the message has served that in the queue it leaves. */
export function changeRecord(index: PackedIndex, i: number, change: RecordChange): Uint8Array<ArrayBuffer> {
  const { contentType, body, id, timestampMs } = index.message(i);
  const extension = change.extension ?? index.extension(i);
  return packMessages([
    {
      id: change.id ?? id,
      contentType,
      body,
      timestampMs: change.timestampMs ?? timestampMs,
      earlierReceives: Math.min(EARLIER_RECEIVES_MAX, change.earlierReceives ?? index.earlierReceives(i)),
      extension,
    },
  ]);
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
