/** Error for bytes that are not V8's serialization, or not a version of it that is known here. */
export class V8FormatError extends Error {
  override readonly name = "V8FormatError";
}

const utf8 = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
const utf16 = new TextDecoder("utf-16le", { fatal: false, ignoreBOM: true });
/** Units per call of `String.fromCharCode`: with too many arguments the call overflows the stack. */
const UNITS_PER_CALL = 4_096;

/** The bytes of a serialized value, from front to back. Throws `V8FormatError` where they end too early. */
export class V8Input {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Bytes that are left. */
  get left(): number {
    return this.#bytes.byteLength - this.#at;
  }

  byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new V8FormatError("it is cut off");
    this.#at += 1;
    return byte;
  }

  /** The next tag, a character; padding is skipped. */
  tag(): string {
    let byte = this.byte();
    while (byte === 0) byte = this.byte();
    return String.fromCharCode(byte);
  }

  /** The next tag without taking it; empty at the end. */
  peek(): string {
    let at = this.#at;
    while (this.#bytes[at] === 0) at += 1;
    const byte = this.#bytes[at];
    return byte === undefined ? "" : String.fromCharCode(byte);
  }

  /** An unsigned number of at most 32 bits, seven bits a byte, the least significant first. */
  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (value >= 2 ** 32 || (factor === 2 ** 28 && byte >= 0x80)) {
        throw new V8FormatError("a number in it is too large");
      }
      if (byte < 0x80) return value;
    }
  }

  /** A signed number: 0, -1, 1, -2 are written as 0, 1, 2, 3. */
  zigzag(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  double(): number {
    const view = this.#view;
    const at = this.#at;
    this.take(8);
    return view.getFloat64(at, true);
  }

  /** A view of the next `count` bytes. */
  take(count: number): Uint8Array {
    if (count > this.left) throw new V8FormatError("it is cut off");
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  /** Reads a string behind its tag: `"` latin1, `c` UTF-16, `S` UTF-8. */
  text(tag: string): string {
    switch (tag) {
      case '"':
        return latin1(this.take(this.varint()));
      case "c":
        return utf16Text(this.take(this.varint()));
      case "S":
        return utf8.decode(this.take(this.varint()));
      default:
        throw new V8FormatError(`a string is expected where the tag ${JSON.stringify(tag)} is`);
    }
  }
}

/** Decodes latin1. `TextDecoder` takes that name for windows-1252. */
function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let from = 0; from < bytes.length; from += UNITS_PER_CALL) {
    text += String.fromCharCode(...bytes.subarray(from, from + UNITS_PER_CALL));
  }
  return text;
}

/** Decodes UTF-16 with lone surrogates, which JavaScript allows and a decoder replaces. */
function utf16Text(bytes: Uint8Array): string {
  if (bytes.length % 2 !== 0) throw new V8FormatError("it is cut off");
  const text = utf16.decode(bytes);
  if (!text.includes("\ufffd")) return text;
  let exact = "";
  for (let at = 0; at + 1 < bytes.length; at += 2) {
    exact += String.fromCharCode((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8));
  }
  return exact;
}
