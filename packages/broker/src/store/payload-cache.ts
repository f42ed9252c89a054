import type { PackedIndex } from "@sluice/protocol";

/**
 * Payloads kept in memory that were used, in bytes: the messages of theirs that are left, or come back, are about to be
 * delivered.
 */
export const USED_BYTES_MAX = 5_000_000;
/**
 * The same of those that were just sent: they are about to be delivered where somebody receives, and the hot path reads
 * nothing.
 */
export const FRESH_BYTES_MAX = 1_000_000;
/** The same of the first of those that wait longer: a queue delivers them first. */
export const WAITING_BYTES_MAX = 22_000_000;

/**
 * Payloads of a queue by segment, with the offsets of their records.
 *
 * Of what is sent faster than it is received, the first is kept and not the last: that comes too early to be of use,
 * and to replace one by the other costs every sender. What is kept longer than V8's young generation lasts is cleared
 * away by full collections alone, and with 24 MB of the latest there was one every half second.
 */
export class PayloadCache {
  readonly #used: Payloads;
  readonly #fresh: Payloads;
  readonly #waiting: Payloads;
  /** The one that was used last: it has its place already, and is asked for once for each of its messages. */
  #latest: { readonly id: number; readonly payload: PackedIndex } | null = null;

  constructor(limits: { readonly used?: number; readonly fresh?: number; readonly waiting?: number } = {}) {
    const { used = USED_BYTES_MAX, fresh = FRESH_BYTES_MAX, waiting = WAITING_BYTES_MAX } = limits;
    this.#used = new Payloads(used);
    this.#fresh = new Payloads(fresh);
    this.#waiting = new Payloads(waiting);
  }

  /** Counts as a use. */
  get(id: number): PackedIndex | undefined {
    if (this.#latest?.id === id) return this.#latest.payload;
    const payload = this.written(id);
    if (payload !== undefined) this.use(id, payload);
    return payload;
  }

  /** The same, and counts as none: what is written is not asked for by anybody yet. */
  written(id: number): PackedIndex | undefined {
    return this.#fresh.get(id) ?? this.#used.get(id) ?? this.#waiting.get(id);
  }

  /** Takes in what was sent. */
  set(id: number, payload: PackedIndex): void {
    this.delete(id);
    this.#fresh.add(id, payload);
  }

  /** Takes in what was read for somebody who asked for it. */
  use(id: number, payload: PackedIndex): void {
    this.delete(id);
    this.#used.add(id, payload);
    this.#latest = { id, payload };
  }

  delete(id: number): void {
    if (this.#latest?.id === id) this.#latest = null;
    this.#fresh.delete(id);
    this.#used.delete(id);
    this.#waiting.delete(id);
  }

  /** Drops what is too much. Call when nothing unwritten is in the cache any more: between turns. */
  trim(): void {
    for (const [id, payload] of this.#fresh.excess()) {
      this.#fresh.delete(id);
      if (this.#waiting.hasRoomFor(payload)) this.#waiting.add(id, payload);
    }
    // It may be among those that leave.
    this.#latest = null;
    for (const [id] of this.#used.excess()) this.#used.delete(id);
  }
}

/** Payloads in the order in which they were added. */
class Payloads {
  readonly #bytesMax: number;
  readonly #payloads = new Map<number, PackedIndex>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(id: number): PackedIndex | undefined {
    return this.#payloads.get(id);
  }

  /** Only one that is not there. */
  add(id: number, payload: PackedIndex): void {
    this.#payloads.set(id, payload);
    this.#bytes += payload.packed.byteLength;
  }

  delete(id: number): void {
    const found = this.#payloads.get(id);
    if (found === undefined) return;
    this.#payloads.delete(id);
    this.#bytes -= found.packed.byteLength;
  }

  hasRoomFor(payload: PackedIndex): boolean {
    return this.#bytes + payload.packed.byteLength <= this.#bytesMax;
  }

  /** The first ones, as long as there is too much: each is to be deleted. */
  *excess(): Iterable<readonly [id: number, payload: PackedIndex]> {
    for (const entry of this.#payloads) {
      if (this.#bytes <= this.#bytesMax) return;
      yield entry;
    }
  }
}
