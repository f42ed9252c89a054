/** Writes numbers compactly: integers as LEB128 (7 bits a byte), times as 64-bit floats. */
export class ByteWriter {
  #bytes = new Uint8Array(64);
  #length = 0;

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
    new DataView(this.#bytes.buffer).setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #byte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = byte;
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const grown = new Uint8Array(2 * this.#bytes.length);
    grown.set(this.#bytes);
    this.#bytes = grown;
  }
}

/** Bytes that `ByteWriter` did not write this way: a damaged row. */
export class ByteFormatError extends Error {
  override readonly name = "ByteFormatError";
}

/** Reads what `ByteWriter` wrote. Throws `ByteFormatError` past the end. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  uint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.#byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) break;
      if (factor > 2 ** 46) throw new ByteFormatError("an integer does not end");
    }
    return value;
  }

  float(): number {
    if (this.#offset + 8 > this.#bytes.length) throw this.#cutOff();
    const value = this.#view.getFloat64(this.#offset, true);
    this.#offset += 8;
    return value;
  }

  /** Throws unless everything was read. */
  end(): void {
    if (this.#offset !== this.#bytes.length) {
      throw new ByteFormatError(`${this.#bytes.length - this.#offset} bytes are left over`);
    }
  }

  #byte(): number {
    const byte = this.#bytes[this.#offset++];
    if (byte === undefined) throw this.#cutOff();
    return byte;
  }

  #cutOff(): ByteFormatError {
    return new ByteFormatError(`it ends after ${this.#bytes.length} bytes`);
  }
}
