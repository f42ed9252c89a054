import type { StoredEvent } from "./journal/event.ts";

/** Range of messages of one segment that failed with one error. */
interface FailedRange {
  readonly from: number;
  readonly to: number;
  readonly error: string;
  /** Attempt that ended with it; 0 where that is not known. */
  readonly attempt: number;
}

/** Last errors of messages by their places, as the events of a queue tell them. Pure. */
export class Failures {
  /** By segment, oldest first. */
  readonly #ranges = new Map<number, FailedRange[]>();
  /** Errors of the messages of one segment by index: a search asks for one segment after the other. */
  #segment: { readonly id: number; readonly errors: readonly string[] } | null = null;

  /** @param events oldest first. */
  constructor(events: Iterable<StoredEvent>) {
    // Each distinct text is kept once: a failing queue has thousands of events with the same.
    const texts = new Map<string, string>();
    for (const { kind, error, delay, at = [], attempt = 0, attempts = [] } of events) {
      // A delivery to an absent consumer does not count.
      const isFailure = kind === "failed" || (kind === "retried" && delay !== "absence");
      if (!isFailure || error === undefined) continue;
      const text = texts.get(error) ?? error;
      texts.set(error, text);
      for (let i = 0; i < at.length; i += 3) {
        const [segmentId = 0, from = 0, to = 0] = at.slice(i, i + 3);
        const ranges = this.#ranges.get(segmentId);
        const range = { from, to, error: text, attempt: attempts[i / 3] ?? attempt };
        if (ranges === undefined) this.#ranges.set(segmentId, [range]);
        else ranges.push(range);
      }
    }
  }

  /** Returns the last error of the message at a place; `null` where none is known. */
  errorAt(segmentId: number, index: number): string | null {
    if (this.#segment?.id !== segmentId) this.#segment = { id: segmentId, errors: this.#errorsOf(segmentId) };
    return this.#segment.errors[index] ?? null;
  }

  /**
   * Returns the last error of the message at a place before the attempt in which it was acknowledged: the batch of that
   * attempt may have failed for other messages. `null` where none is known.
   */
  errorBefore(attempt: number, segmentId: number, index: number): string | null {
    const range = this.#ranges
      .get(segmentId)
      ?.findLast((each) => index >= each.from && index < each.to && each.attempt < attempt);
    return range?.error ?? null;
  }

  #errorsOf(segmentId: number): string[] {
    const errors: string[] = [];
    for (const { from, to, error } of this.#ranges.get(segmentId) ?? []) {
      for (let index = from; index < to; index++) errors[index] = error;
    }
    return errors;
  }
}
