/** Most spans that wait in an isolate, of all of its queues. One takes about a kilobyte. */
export const ISOLATE_SPANS_MAX = 8_192;

/** Spans of one queue in a room. */
export interface RoomShare {
  held: number;
}

/** Room for the spans that the queues of an isolate keep, and what was logged of their collector. */
export class SpanRoom {
  readonly #max: number;
  /** `null` before the compatibility date 2025-05-05: then each queue has its own bound alone. */
  readonly #gone: FinalizationRegistry<RoomShare> | null;
  #held = 0;
  /** Whether it was logged that the collector takes no spans. */
  isAway = false;
  /** Whether it was logged that spans are lost by that. */
  isLossKnown = false;
  /** Spans that were lost and are not logged yet. */
  lost = 0;

  constructor(max = ISOLATE_SPANS_MAX) {
    const hasRegistry = typeof FinalizationRegistry !== "undefined";
    this.#gone = hasRegistry ? new FinalizationRegistry(({ held }) => this.#free(held)) : null;
    this.#max = hasRegistry ? max : Number.POSITIVE_INFINITY;
  }

  /** Gives a holder of spans a share of the room, which is free again when the holder is garbage-collected. */
  shareFor(holder: object): RoomShare {
    const share = { held: 0 };
    this.#gone?.register(holder, share);
    return share;
  }

  /** Most spans that a share can hold now. */
  maxFor({ held }: RoomShare): number {
    return this.#max - this.#held + held;
  }

  hold(share: RoomShare, spans: number): void {
    this.#held += spans - share.held;
    share.held = spans;
  }

  #free(spans: number): void {
    this.#held -= spans;
  }
}

/** Room of this isolate. */
export const isolateRoom = new SpanRoom();
