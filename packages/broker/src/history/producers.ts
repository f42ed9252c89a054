import type { Positions } from "./journal/event.ts";

/** Segments whose producers are remembered. */
const SEGMENTS_MAX = 4_096;

/** Producers of a queue's messages, by segment and in memory alone, so that a dead letter can name its producer. */
export class Producers {
  readonly #bySegment = new Map<number, string | null>();

  sent(at: Positions, by: string | null): void {
    for (let i = 0; i < at.length; i += 3) {
      const segmentId = at[i] ?? 0;
      const known = this.#bySegment.get(segmentId);
      // Several producers share the segment, so none can be named.
      if (known !== undefined && known !== by) this.#bySegment.set(segmentId, null);
      else if (known === undefined) this.#remember(segmentId, by);
    }
  }

  of(segmentId: number): string | null {
    return this.#bySegment.get(segmentId) ?? null;
  }

  #remember(segmentId: number, by: string | null): void {
    this.#bySegment.set(segmentId, by);
    if (this.#bySegment.size <= SEGMENTS_MAX) return;
    const [oldest] = this.#bySegment.keys();
    if (oldest !== undefined) this.#bySegment.delete(oldest);
  }
}
