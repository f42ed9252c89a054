const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";

/** Makes the body of message `tag`: its number, and text that is derived from the number, so that any damage shows. */
export function bodyOf(tag: number, bytes: number): string {
  const head = `${tag}:`;
  let filler = "";
  // A multiplicative step through the alphabet: two messages of the same size differ everywhere.
  for (let i = tag % 31; filler.length < Math.min(64, bytes); i += 1 + (tag % 7)) filler += ALPHABET[i % 36];
  return (head + filler.repeat(Math.ceil(bytes / Math.max(1, filler.length)))).slice(
    0,
    Math.max(head.length, bytes),
  );
}

/** Reads the number at the beginning of a body; `null` if there is none. */
export function tagOf(body: string): number | null {
  const [, digits] = /^(\d+):/.exec(body) ?? [];
  return digits === undefined ? null : Number(digits);
}
