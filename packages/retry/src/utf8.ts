/** Encodes a text in UTF-8. The language itself has no encoder, and this package uses no platform's. */
export function* utf8(text: string): Generator<number> {
  for (const character of text.toWellFormed()) {
    const point = character.codePointAt(0) ?? 0;
    if (point < 0x80) {
      yield point;
      continue;
    }
    const more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    yield ((0xff80 >> more) & 0xff) | (point >> (6 * more));
    for (let shift = 6 * (more - 1); shift >= 0; shift -= 6) yield 0x80 | ((point >> shift) & 0x3f);
  }
}

/** Counts the bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  let length = 0;
  for (const _ of utf8(text)) length += 1;
  return length;
}
