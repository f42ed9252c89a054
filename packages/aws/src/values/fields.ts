const LENGTH_BYTES = 4;

const encoder = new TextEncoder();

/** Writes texts and bytes one after the other, each behind its length. */
export class FieldWriter {
  readonly #isLittleEndian: boolean;
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  constructor(order: "little endian" | "big endian") {
    this.#isLittleEndian = order === "little endian";
  }

  /** Bytes that were written so far. */
  get written(): Uint8Array {
    const written = new Uint8Array(this.#length);
    let at = 0;
    for (const part of this.#parts) {
      written.set(part, at);
      at += part.byteLength;
    }
    return written;
  }

  byte(value: number): void {
    this.#add(Uint8Array.of(value));
  }

  text(text: string): void {
    this.bytes(encoder.encode(text));
  }

  bytes(bytes: Uint8Array): void {
    const length = new Uint8Array(LENGTH_BYTES);
    new DataView(length.buffer).setUint32(0, bytes.byteLength, this.#isLittleEndian);
    this.#add(length);
    this.#add(bytes);
  }

  #add(part: Uint8Array): void {
    this.#parts.push(part);
    this.#length += part.byteLength;
  }
}
