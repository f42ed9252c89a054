import { checksumsOf } from "./record-checksums.ts";

/** Segments whose checksums are kept: more than are open for appending at a time. */
const CHECKSUMS_KEPT = 8;

/** Checksums of the segments that were written last, so that appending to one computes only new ones. */
export class SegmentChecksums {
  readonly #kept = new Map<number, Uint8Array>();

  /** Computes the checksums of a segment's payload, which begins with the payload that they were computed of before. */
  of(id: number, payload: Uint8Array): Uint8Array {
    const checksums = checksumsOf(payload, this.#kept.get(id));
    this.#kept.delete(id);
    this.#kept.set(id, checksums);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > CHECKSUMS_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return checksums;
  }

  delete(id: number): void {
    this.#kept.delete(id);
  }
}
