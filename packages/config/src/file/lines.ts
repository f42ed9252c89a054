/** Path in a configuration: keys and array indices, from the root. */
export type KeyPath = readonly (string | number)[];

/** Line of each key of a file. */
export class KeyLines {
  readonly #lines = new Map<string, number>();

  /** A key that occurs twice keeps its last line, as its last value is the one that counts in JSON. */
  record(path: KeyPath, line: number): void {
    this.#lines.set(JSON.stringify(path), line);
  }

  /** A table that several headers contribute to keeps the line of the first. */
  recordFirst(path: KeyPath, line: number): void {
    const key = JSON.stringify(path);
    if (!this.#lines.has(key)) this.#lines.set(key, line);
  }

  /**
   * Returns the line of a key. For a key that is not in the file, that is the line of the nearest table around it,
   * where the key belongs; `undefined` when no part of the path is in the file.
   */
  lineOf(path: KeyPath): number | undefined {
    for (let length = path.length; length > 0; length--) {
      const line = this.#lines.get(JSON.stringify(path.slice(0, length)));
      if (line !== undefined) return line;
    }
    return undefined;
  }
}

/** Turns character offsets of a text into 1-based line numbers. `\n` and `\r\n` end a line. */
export class LineIndex {
  readonly #lineStarts: number[] = [0];

  constructor(text: string) {
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1))
      this.#lineStarts.push(at + 1);
  }

  lineAt(offset: number): number {
    let low = 0;
    let high = this.#lineStarts.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  }
}
