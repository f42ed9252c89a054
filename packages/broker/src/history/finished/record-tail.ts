/** Bytes of the smallest buffer, and of the largest that an empty tail keeps. */
export const FIRST_BYTES = 64_000;
export const KEPT_BYTES_MAX = 512_000;

/**
 * Bytes that are added at the end and dropped at the beginning, in one buffer. Views of the segments instead would keep
 * the segments alive for a while, and objects that die in middle age cost the garbage collector most: measured with
 * single messages, a fifth of a queue's CPU time.
 */
export class RecordTail {
  #buffer = new Uint8Array(0);
  #from = 0;
  #to = 0;

  get byteLength(): number {
    return this.#to - this.#from;
  }

  /** Adds a copy of bytes. */
  append(bytes: Uint8Array): void {
    const { byteLength } = this;
    if (this.#to + bytes.byteLength > this.#buffer.byteLength) {
      const needed = byteLength + bytes.byteLength;
      // Bytes are moved at most about twice: half of the buffer is free afterwards.
      if (2 * needed > this.#buffer.byteLength) {
        const larger = new Uint8Array(Math.max(FIRST_BYTES, 2 * needed));
        larger.set(this.view());
        this.#buffer = larger;
      } else this.#buffer.copyWithin(0, this.#from, this.#to);
      this.#from = 0;
      this.#to = byteLength;
    }
    this.#buffer.set(bytes, this.#to);
    this.#to += bytes.byteLength;
  }

  /** Drops bytes at the beginning. */
  drop(bytes: number): void {
    this.#from += bytes;
  }

  clear(): void {
    this.#from = 0;
    this.#to = 0;
    if (this.#buffer.byteLength > KEPT_BYTES_MAX) this.#buffer = new Uint8Array(0);
  }

  /** Returns the bytes as a view, which the next change ends. */
  view(): Uint8Array {
    return this.#buffer.subarray(this.#from, this.#to);
  }
}
