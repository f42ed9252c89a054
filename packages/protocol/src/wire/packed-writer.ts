import { UUID_LENGTH, UUID_PLACES } from "./packed-ids.ts";
import {
  CONTENT_TYPES,
  type ContentType,
  FLAG_OWN_DELAY,
  MESSAGE_ID_BYTES,
  OFFSET_CONTENT_TYPE,
  OFFSET_DELAY,
  OFFSET_EARLIER_RECEIVES,
  OFFSET_EXTENSION_BYTES,
  OFFSET_FLAGS,
  OFFSET_ID,
  OFFSET_TIMESTAMP,
  RECORD_HEADER_BYTES,
} from "./packed-layout.ts";

/** A message as the writer takes it. */
export interface RecordToWrite extends NewRecord {
  /** `MESSAGE_ID_BYTES` bytes from `idFrom` on, or a UUID in lower case as `crypto.randomUUID` makes it. */
  readonly id: Uint8Array | string;
  /** Where the id begins in its bytes. Default 0. */
  readonly idFrom?: number;
  /** Time of the original send in ms; 0 or absent lets the broker stamp it. */
  readonly timestampMs?: number;
  /** Receives in the queues that the message was in before, at most 65,535. */
  readonly earlierReceives?: number;
}

/** A message that is sent now. */
export interface NewRecord {
  readonly contentType: ContentType;
  /** Text is written as UTF-8. */
  readonly body: string | Uint8Array;
  /** The message's own delay; absent means that batch, binding or queue decide. */
  readonly delaySeconds?: number | undefined;
  /** The extension area, encoded (`encodeExtension`). */
  readonly extension?: Uint8Array | undefined;
}

/** Memory that an idle writer keeps, in bytes: room for a batch of a hundred small messages. */
const IDLE_BYTES_MAX = 65_536;
const FIRST_BYTES = 4_096;
/** UTF-8 needs at most this many bytes for one unit of UTF-16. */
export const UTF8_BYTES_PER_UNIT_MAX = 3;

const encoder = new TextEncoder();
/** Text that is encoded as a header of zeros. */
const EMPTY_HEADER = "\0".repeat(RECORD_HEADER_BYTES);

/** The value of a hexadecimal digit: 0 to 9 come first, then a to f. */
function digitAt(text: string, i: number): number {
  const code = text.charCodeAt(i);
  return code <= 0x39 ? code - 0x30 : code - 0x57;
}

/**
 * Writes records one after the other into one growing buffer. Text is encoded in place, so a body of text is never a
 * byte array of its own.
 */
export class PackedWriter {
  #bytes = new Uint8Array(FIRST_BYTES);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  /** Bytes written so far. */
  get byteLength(): number {
    return this.#length;
  }

  append(record: RecordToWrite): void {
    const { body, timestampMs, extension, earlierReceives } = record;
    const bodyBytesMax = typeof body === "string" ? body.length * UTF8_BYTES_PER_UNIT_MAX : body.byteLength;
    const extensionBytes = extension?.byteLength ?? 0;
    this.#reserve(RECORD_HEADER_BYTES + extensionBytes + bodyBytesMax);
    const offset = this.#length;
    const bodyBytes = this.#writeBody(offset + RECORD_HEADER_BYTES + extensionBytes, body);
    // The memory is used again and again: what is not set below must be 0. Words, as `fill` of so few bytes takes
    // longer.
    for (let at = OFFSET_EARLIER_RECEIVES; at < OFFSET_TIMESTAMP; at += 4) {
      this.#view.setUint32(offset + at, 0, true);
    }
    this.#writeHeader(offset, record, bodyBytes, timestampMs);
    this.#writeIdOf(offset + OFFSET_ID, record);
    if (earlierReceives !== undefined) {
      this.#view.setUint16(offset + OFFSET_EARLIER_RECEIVES, earlierReceives, true);
    }
    if (extension !== undefined) {
      this.#view.setUint32(offset + OFFSET_EXTENSION_BYTES, extensionBytes, true);
      this.#bytes.set(extension, offset + RECORD_HEADER_BYTES);
    }
    this.#length = offset + RECORD_HEADER_BYTES + extensionBytes + bodyBytes;
  }

  /** Appends records whose ids lie one after the other in `ids`. */
  appendAll(records: readonly NewRecord[], ids: Uint8Array): void {
    if (!this.#encodeTogether(records)) {
      for (const [i, { contentType, body, delaySeconds, extension }] of records.entries())
        this.append({ id: ids, idFrom: MESSAGE_ID_BYTES * i, contentType, body, delaySeconds, extension });
      return;
    }
    for (const [i, record] of records.entries()) {
      this.#writeId(this.#length + OFFSET_ID, ids, MESSAGE_ID_BYTES * i);
      this.#finish(record);
    }
  }

  /** Appends records that have their ids. */
  appendEach(records: readonly RecordToWrite[]): void {
    const isSimple = ({ earlierReceives }: RecordToWrite) => earlierReceives === undefined;
    if (!records.every(isSimple) || !this.#encodeTogether(records)) {
      for (const record of records) this.append(record);
      return;
    }
    for (const record of records) {
      this.#writeIdOf(this.#length + OFFSET_ID, record);
      this.#finish(record, record.timestampMs);
    }
  }

  /**
   * Encodes all bodies in one call, with zeros between them where the headers go. It does so if all are ASCII text and
   * no record has an extension: then each body lies where the lengths before it say. A call for each body takes ten
   * times as many instructions.
   *
   * @returns whether it did: then the headers have to be written.
   */
  #encodeTogether(records: readonly NewRecord[]): boolean {
    if (records.length < 2) return false;
    // Empty, so that there is a header before the first body as well.
    const texts = [""];
    let bytes = 0;
    for (const { body, extension } of records) {
      if (typeof body !== "string" || extension !== undefined) return false;
      texts.push(body);
      bytes += RECORD_HEADER_BYTES + body.length;
    }
    this.#reserve(bytes);
    const room = this.#bytes.subarray(this.#length, this.#length + bytes);
    return encoder.encodeInto(texts.join(EMPTY_HEADER), room).read === bytes;
  }

  /** Writes the header of the next record whose body was encoded with those of others. */
  #finish(record: NewRecord, timestampMs?: number): void {
    const bodyBytes = record.body.length;
    this.#writeHeader(this.#length, record, bodyBytes, timestampMs);
    this.#length += RECORD_HEADER_BYTES + bodyBytes;
  }

  /** The bytes [from, to) in memory of their own: RPC sends the whole buffer behind a view. */
  slice(from: number, to: number): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(from, to);
  }

  /** Forgets what was written and keeps the memory, unless it grew large. */
  clear(): void {
    this.#length = 0;
    if (this.#bytes.byteLength > IDLE_BYTES_MAX) this.#allocate(FIRST_BYTES);
  }

  /**
   * Writes what every record says into a header that has zeros from `OFFSET_EARLIER_RECEIVES` to `OFFSET_TIMESTAMP`.
   */
  #writeHeader(
    offset: number,
    { contentType, delaySeconds }: NewRecord,
    bodyBytes: number,
    timestampMs = 0,
  ): void {
    this.#view.setUint32(offset, bodyBytes, true);
    this.#bytes[offset + OFFSET_CONTENT_TYPE] = CONTENT_TYPES.indexOf(contentType);
    if (delaySeconds !== undefined) {
      this.#bytes[offset + OFFSET_FLAGS] = FLAG_OWN_DELAY;
      this.#view.setInt32(offset + OFFSET_DELAY, delaySeconds, true);
    }
    this.#view.setFloat64(offset + OFFSET_TIMESTAMP, timestampMs, true);
  }

  #writeIdOf(offset: number, { id, idFrom }: RecordToWrite): void {
    if (typeof id === "string") {
      this.#writeUuid(offset, id);
      return;
    }
    // Bytes may hold several ids only where `idFrom` says which is meant.
    if (idFrom === undefined && id.byteLength !== MESSAGE_ID_BYTES)
      throw new RangeError(`an id of ${id.byteLength} bytes`);
    this.#writeId(offset, id, idFrom);
  }

  /** Byte by byte: `set` of so few takes longer. */
  #writeId(offset: number, ids: Uint8Array, from = 0): void {
    if (ids.byteLength < from + MESSAGE_ID_BYTES)
      throw new RangeError(`an id of ${Math.max(0, ids.byteLength - from)} bytes`);
    for (let i = 0; i < MESSAGE_ID_BYTES; i++) this.#bytes[offset + i] = ids[from + i] ?? 0;
  }

  #writeUuid(offset: number, uuid: string): void {
    if (uuid.length !== UUID_LENGTH) throw new RangeError(`"${uuid}" is no UUID`);
    for (let i = 0; i < MESSAGE_ID_BYTES; i++) {
      const at = UUID_PLACES[i] ?? 0;
      this.#bytes[offset + i] = (digitAt(uuid, at) << 4) | digitAt(uuid, at + 1);
    }
  }

  #writeBody(offset: number, body: string | Uint8Array): number {
    if (typeof body === "string") return encoder.encodeInto(body, this.#bytes.subarray(offset)).written;
    this.#bytes.set(body, offset);
    return body.byteLength;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.byteLength) return;
    const written = this.#bytes.subarray(0, this.#length);
    this.#allocate(Math.max(needed, 2 * this.#bytes.byteLength));
    this.#bytes.set(written);
  }

  #allocate(bytes: number): void {
    this.#bytes = new Uint8Array(bytes);
    this.#view = new DataView(this.#bytes.buffer);
  }
}
