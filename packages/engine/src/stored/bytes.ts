/** Checksum at the end of everything that is written, in bytes. */
const CHECKSUM_BYTES = 4;

/**
 * Writes numbers compactly: integers as LEB128 (7 bits a byte), times as 64-bit floats. A checksum ends the bytes:
 * SQLite has none, and a flipped bit in a due time or in a number of attempts would otherwise be believed. A contract:
 * stored rows are written so. New kinds of values may be added.
 */
export class ByteWriter {
  #bytes: Uint8Array<ArrayBuffer>;
  #view: DataView;
  #length = 0;

  /** @param bytes number of bytes that will be written, about: room for them is taken at once. */
  constructor(bytes = 64) {
    this.#bytes = new Uint8Array(bytes);
    this.#view = new DataView(this.#bytes.buffer);
  }

  uint(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0)
      throw new RangeError(`${value} is not an unsigned integer`);
    let rest = value;
    while (rest >= 0x80) {
      this.#byte((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.#byte(rest);
  }

  float(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  /** A short text: its length, then each unit of UTF-16. A byte for each character of ASCII. */
  text(value: string): void {
    this.uint(value.length);
    for (let i = 0; i < value.length; i++) this.uint(value.charCodeAt(i));
  }

  /** Returns the bytes written so far, with their checksum. */
  finish(): Uint8Array {
    const finished = new Uint8Array(this.#length + CHECKSUM_BYTES);
    finished.set(this.#bytes.subarray(0, this.#length));
    new DataView(finished.buffer).setUint32(this.#length, checksumOf(finished, this.#length), true);
    return finished;
  }

  #byte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = byte;
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const grown = new Uint8Array(2 * this.#bytes.length + bytes);
    grown.set(this.#bytes);
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}

/** Error for bytes that `ByteWriter` did not write this way: a corrupt row. */
export class ByteFormatError extends Error {
  override readonly name = "ByteFormatError";
}

/** Reads bytes of a `ByteWriter`. Throws `ByteFormatError` past the end, and at once when the checksum does not fit. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  /** Where the checksum begins. */
  readonly #end: number;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#end = bytes.length - CHECKSUM_BYTES;
    if (this.#end < 0) throw this.#cutOff();
    if (this.#view.getUint32(this.#end, true) !== checksumOf(bytes, this.#end)) {
      throw new ByteFormatError(`the checksum of ${bytes.length} bytes does not fit`);
    }
  }

  uint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.#byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) break;
      if (factor > 2 ** 42) throw new ByteFormatError("an integer does not end");
    }
    if (!Number.isSafeInteger(value)) throw new ByteFormatError(`the integer ${value} is too large`);
    return value;
  }

  float(): number {
    if (this.#offset + 8 > this.#end) throw this.#cutOff();
    const value = this.#view.getFloat64(this.#offset, true);
    this.#offset += 8;
    return value;
  }

  text(): string {
    const length = this.uint();
    let value = "";
    for (let i = 0; i < length; i++) {
      const unit = this.uint();
      if (unit > 0xffff) throw new ByteFormatError(`${unit} is no unit of UTF-16`);
      value += String.fromCharCode(unit);
    }
    return value;
  }

  /** Throws unless everything was read. */
  end(): void {
    if (this.#offset !== this.#end) {
      throw new ByteFormatError(`${this.#end - this.#offset} bytes are left over`);
    }
  }

  #byte(): number {
    if (this.#offset >= this.#end) throw this.#cutOff();
    return this.#bytes[this.#offset++] as number; // offset < end < length
  }

  #cutOff(): ByteFormatError {
    return new ByteFormatError(`it ends after ${this.#bytes.length} bytes`);
  }
}

/**
 * Computes FNV-1a over the first `length` bytes: one changed byte always changes it, other corruption all but once in 4
 * billion times.
 */
export function checksumOf(bytes: Uint8Array, length: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < length; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193); // i < length
  return hash >>> 0;
}
