import { changeVisibility, factsOf, type Queue, type Receipt } from "@sluice/engine";
import { DEDUPLICATION_MS } from "@sluice/protocol";

/** What a receive got. */
export interface Attempt {
  readonly receipts: readonly Receipt[];
  readonly receivedMs: number;
  /** End of the visibility timeout that it was given. */
  readonly visibleAtMs: number;
}

/**
 * Receives that named themselves (spec sqs 4.5): one that is repeated within five minutes gets the same messages with the
 * same receipts, as long as nothing has happened to any of them. In memory only: after a restart the messages of a lost
 * answer come back when their visibility timeout ends, as they do without an id.
 */
export class Attempts {
  /** In the order of their receives, so the first ones expire first. */
  readonly #known = new Map<string, Attempt>();

  note(attemptId: string, attempt: Attempt): void {
    this.#known.delete(attemptId);
    this.#known.set(attemptId, attempt);
  }

  /**
   * Within a turn: the receive of that name with a new visibility timeout; `null` if there is none, or if a message of it was
   * deleted, had its visibility changed or is visible again.
   */
  repeat(queue: Queue, attemptId: string | undefined, visibilityMs: number, nowMs: number): Attempt | null {
    this.#expire(nowMs);
    const attempt = attemptId === undefined ? undefined : this.#known.get(attemptId);
    if (attemptId === undefined || attempt === undefined) return null;
    const { receipts, receivedMs } = attempt;
    const isUntouched = receipts.every((receipt) => {
      const facts = factsOf(queue, receipt);
      return facts?.visibleAtMs === attempt.visibleAtMs && attempt.visibleAtMs > nowMs;
    });
    if (!isUntouched) {
      this.#known.delete(attemptId);
      return null;
    }
    const visibleAtMs = nowMs + visibilityMs;
    for (const receipt of receipts) changeVisibility(queue, receipt, { visibleAtMs, receivedMs }, nowMs);
    const again = { receipts, receivedMs, visibleAtMs };
    // Its five minutes count from the first receive: its place among the others stays.
    this.#known.set(attemptId, again);
    return again;
  }

  #expire(nowMs: number): void {
    for (const [attemptId, { receivedMs }] of this.#known) {
      if (nowMs < receivedMs + DEDUPLICATION_MS) return;
      this.#known.delete(attemptId);
    }
  }
}
