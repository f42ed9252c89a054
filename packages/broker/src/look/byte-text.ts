const encoder = new TextEncoder();

/** Byte of a letter in small, by byte. */
const SMALL = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
);

/** Text that is looked for among bytes of UTF-8, where ASCII letters may be capitals: by Horspool's algorithm. */
export class ByteText {
  readonly #bytes: Uint8Array;
  /** How far the text may move on, by the byte at its end. */
  readonly #steps: Uint32Array;

  /** @param text not empty. */
  constructor(text: string) {
    this.#bytes = encoder.encode(text).map((byte) => SMALL[byte] ?? byte);
    const last = this.#bytes.length - 1;
    this.#steps = new Uint32Array(256).fill(last + 1);
    for (let byte = 0; byte < 256; byte++) {
      const place = this.#bytes.subarray(0, last).lastIndexOf(SMALL[byte] ?? byte);
      if (place !== -1) this.#steps[byte] = last - place;
    }
  }

  /** Whether the text is among the bytes [from, to). */
  isIn(bytes: Uint8Array, from: number, to: number): boolean {
    const [text, steps] = [this.#bytes, this.#steps];
    const last = text.length - 1;
    for (let end = from + last; end < to; end += steps[bytes[end] ?? 0] ?? 1) {
      let place = last;
      while (place >= 0 && SMALL[bytes[end - last + place] ?? 0] === text[place]) place -= 1;
      if (place < 0) return true;
    }
    return false;
  }
}

/** Longest part of a text whose characters `isExact` says are written in one way; `null` for none. */
export function longestExact(text: string, isExact: (character: string) => boolean): ByteText | null {
  let longest = "";
  let part = "";
  for (const character of text) {
    part = isExact(character) ? part + character : "";
    if (part.length > longest.length) longest = part;
  }
  return longest === "" ? null : new ByteText(longest);
}
