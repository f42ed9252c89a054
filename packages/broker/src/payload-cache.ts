import type { PackedIndex } from "@sluice/protocol";

/**
 * Payloads kept in memory, in bytes: what was just sent is about to be delivered, so the hot path reads nothing. More would be of
 * use to a backlog of a few seconds only, whose payloads are read back for little, and cost every sender: what is kept longer than
 * V8's young generation lasts is cleared away by full collections alone. With 24 MB, and nobody receiving, there was one every half second.
 */
export const CACHE_BYTES_MAX = 1_000_000;

/** The latest payloads of a queue by segment, with the offsets of their records. The least recently used leave first. */
export class PayloadCache {
  readonly #bytesMax: number;
  readonly #payloads = new Map<number, PackedIndex>();
  /** The one that was used last: it has its place already, and is asked for once for each of its messages. */
  #latest: number | undefined;
  #bytes = 0;

  constructor(bytesMax: number = CACHE_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  get(id: number): PackedIndex | undefined {
    const found = this.#payloads.get(id);
    if (found === undefined || id === this.#latest) return found;
    this.#payloads.delete(id);
    this.#payloads.set(id, found);
    this.#latest = id;
    return found;
  }

  set(id: number, payload: PackedIndex): void {
    this.delete(id);
    this.#payloads.set(id, payload);
    this.#latest = id;
    this.#bytes += payload.packed.byteLength;
  }

  delete(id: number): void {
    const found = this.#payloads.get(id);
    if (found === undefined) return;
    this.#payloads.delete(id);
    this.#bytes -= found.packed.byteLength;
  }

  /** Drops what is too much. Call when nothing unwritten is in the cache any more: between turns. */
  trim(): void {
    for (const id of this.#payloads.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.delete(id);
    }
  }
}
