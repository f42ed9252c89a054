const encoder = new TextEncoder();

/** Each byte, with ASCII letters in lower case. */
const SMALL = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
);

/** Text that is searched for among bytes by Horspool's algorithm, ASCII letters in either case. */
export class ByteText {
  readonly #bytes: Uint8Array;
  /** How far the search may move on, by the byte at the end of the text. */
  readonly #steps: Uint32Array;

  /** @param text in UTF-8, not empty. */
  constructor(text: string | Uint8Array) {
    const bytes = typeof text === "string" ? encoder.encode(text) : text;
    this.#bytes = bytes.map((byte) => SMALL[byte] ?? byte);
    const last = this.#bytes.length - 1;
    this.#steps = new Uint32Array(256).fill(last + 1);
    for (let byte = 0; byte < 256; byte++) {
      const place = this.#bytes.subarray(0, last).lastIndexOf(SMALL[byte] ?? byte);
      if (place !== -1) this.#steps[byte] = last - place;
    }
  }

  get length(): number {
    return this.#bytes.length;
  }

  /** Whether the text is among the bytes [from, to). */
  isIn(bytes: Uint8Array, from = 0, to = bytes.length): boolean {
    return this.placeIn(bytes, from, to) !== -1;
  }

  /** Finds the first place of the text among the bytes [from, to); -1 if there is none. */
  placeIn(bytes: Uint8Array, from: number, to: number): number {
    const [text, steps] = [this.#bytes, this.#steps];
    const last = text.length - 1;
    for (let end = from + last; end < to; end += steps[bytes[end] ?? 0] ?? 1) {
      let place = last;
      while (place >= 0 && SMALL[bytes[end - last + place] ?? 0] === text[place]) place -= 1;
      if (place < 0) return end - last;
    }
    return -1;
  }
}

/** Finds the longest part of a text whose characters are all written in one way (`isExact`); `null` for none. */
export function longestExact(text: string, isExact: (character: string) => boolean): ByteText | null {
  let longest = "";
  let part = "";
  for (const character of text) {
    part = isExact(character) ? part + character : "";
    if (part.length > longest.length) longest = part;
  }
  return longest === "" ? null : new ByteText(longest);
}
