/** Memory that an idle writer keeps, in bytes: the attributes of most messages have far less. */
const IDLE_BYTES_MAX = 65_536;
const FIRST_BYTES = 1_024;
/** UTF-8 needs at most this many bytes for one unit of UTF-16. */
const UTF8_BYTES_PER_UNIT_MAX = 3;
const LENGTH_BYTES = 4;

const encoder = new TextEncoder();

/**
 * Texts and bytes one after the other, each behind its length, in memory that is used again and again: with bytes of their own
 * for each text the attributes of a message took longer than all the rest of it.
 */
export class FieldWriter {
  readonly #isLittleEndian: boolean;
  #bytes = new Uint8Array(FIRST_BYTES);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  constructor(order: "little endian" | "big endian") {
    this.#isLittleEndian = order === "little endian";
  }

  /** What was written so far: a view, good until the next field. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length] = value;
    this.#length += 1;
  }

  text(text: string): void {
    this.#reserve(LENGTH_BYTES + UTF8_BYTES_PER_UNIT_MAX * text.length);
    const from = this.#length + LENGTH_BYTES;
    const bytes = this.#writeAscii(text, from) ? text.length : this.#encode(text, from);
    this.#end(from, bytes);
  }

  bytes(bytes: Uint8Array): void {
    this.#reserve(LENGTH_BYTES + bytes.byteLength);
    const from = this.#length + LENGTH_BYTES;
    this.#bytes.set(bytes, from);
    this.#end(from, bytes.byteLength);
  }

  /** Forgets what was written and keeps the memory, unless it grew large. */
  clear(): void {
    this.#length = 0;
    if (this.#bytes.byteLength > IDLE_BYTES_MAX) this.#allocate(FIRST_BYTES);
  }

  /** Whether a text was written of which each unit is a byte: for the short ones that most are that is quicker. */
  #writeAscii(text: string, from: number): boolean {
    if (text.length > SHORT) return false;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 0x7f) return false;
      this.#bytes[from + i] = unit;
    }
    return true;
  }

  #encode(text: string, from: number): number {
    return encoder.encodeInto(text, this.#bytes.subarray(from)).written;
  }

  #end(from: number, bytes: number): void {
    this.#view.setUint32(from - LENGTH_BYTES, bytes, this.#isLittleEndian);
    this.#length = from + bytes;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.byteLength) return;
    const { written } = this;
    this.#allocate(Math.max(needed, 2 * this.#bytes.byteLength));
    this.#bytes.set(written);
  }

  #allocate(bytes: number): void {
    this.#bytes = new Uint8Array(bytes);
    this.#view = new DataView(this.#bytes.buffer);
  }
}

/** Units of a text up to which a loop is quicker than the platform's encoder. */
const SHORT = 64;
