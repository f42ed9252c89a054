import type { PackedIndex } from "@sluice/protocol";

/** Most bytes of used payloads in memory. Their remaining and retried messages are likely to be delivered next. */
export const USED_BYTES_MAX = 5_000_000;
/** Most bytes of payloads just sent. Where a consumer keeps up they are delivered next, without a read. */
export const FRESH_BYTES_MAX = 1_000_000;
/** Most bytes of payloads that wait longer: the first ones, which the queue delivers first. */
export const WAITING_BYTES_MAX = 22_000_000;

/**
 * Payloads of a queue by segment, with the offsets of their records.
 *
 * When messages are sent faster than they are received, the first payloads are kept, not the latest: those are needed
 * last, and replacing payloads costs every sender. V8 frees long-lived ones only by full collections; with the latest
 * 24 MB there was one every half second.
 */
export class PayloadCache {
  readonly #used: Payloads;
  readonly #fresh: Payloads;
  readonly #waiting: Payloads;
  /** Payload that was used last. It needs no new place, and is read once for each of its messages. */
  #latest: { readonly id: number; readonly payload: PackedIndex } | null = null;

  constructor(limits: { readonly used?: number; readonly fresh?: number; readonly waiting?: number } = {}) {
    const { used = USED_BYTES_MAX, fresh = FRESH_BYTES_MAX, waiting = WAITING_BYTES_MAX } = limits;
    this.#used = new Payloads(used);
    this.#fresh = new Payloads(fresh);
    this.#waiting = new Payloads(waiting);
  }

  /** Returns a payload, and counts that as a use. */
  get(id: number): PackedIndex | undefined {
    if (this.#latest?.id === id) return this.#latest.payload;
    const payload = this.written(id);
    if (payload !== undefined) this.use(id, payload);
    return payload;
  }

  /** Returns a payload without counting a use: a commit writes it, no consumer needs it yet. */
  written(id: number): PackedIndex | undefined {
    return this.#fresh.get(id) ?? this.#used.get(id) ?? this.#waiting.get(id);
  }

  /** Adds a payload that was sent. */
  set(id: number, payload: PackedIndex): void {
    this.delete(id);
    this.#fresh.add(id, payload);
  }

  /** Adds a payload that was read for a consumer. */
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

  /** Drops payloads beyond the limits. Call between turns, when every payload in the cache is stored. */
  trim(): void {
    for (const [id, payload] of this.#fresh.excess()) {
      this.#fresh.delete(id);
      if (this.#waiting.hasRoomFor(payload)) this.#waiting.add(id, payload);
    }
    // The latest payload may be among those that are dropped.
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

  /** Adds a payload with a new id. */
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

  /** Yields the first payloads until the rest fits. The caller deletes each. */
  *excess(): Iterable<readonly [id: number, payload: PackedIndex]> {
    for (const entry of this.#payloads) {
      if (this.#bytes <= this.#bytesMax) return;
      yield entry;
    }
  }
}
