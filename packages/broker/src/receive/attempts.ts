import { changeVisibility, factsOf, type Receipt, VISIBILITY_TOTAL_MS_MAX } from "@sluice/engine";
import { DEDUPLICATION_MS } from "@sluice/protocol";
import { decodeChecked, encodeChecked } from "../store/checked-json.ts";
import type { QueueContext } from "../turn/context.ts";

/** Receive with an attempt id: its receipts, with its times in ms. A contract: notes store it as JSON. */
export interface Attempt {
  readonly receipts: readonly Receipt[];
  readonly receivedMs: number;
  /** End of its visibility timeout. */
  readonly visibleAtMs: number;
}

/** Most receives that are remembered, about 20 MB. Beyond it the oldest is forgotten; repeating it is a new receive. */
export const ATTEMPTS_MAX = 20_000;

const PREFIX = "attempt:";
/** Digits of a time in ms, with leading zeros, so that notes come back in the order of their times. */
const TIME_LENGTH = 16;

/**
 * Receives with an attempt id (spec sqs 4.5). Repeating one within five minutes gets the same messages with the same
 * receipts, as long as none of them has changed. Each receive is a note in the store, written with its lease, so that a
 * client can repeat one whose answer a crash has lost. A receive without an attempt id costs nothing here.
 */
export class Attempts {
  readonly #context: QueueContext;
  /** Attempts by their ids, in the order of their receives, so the first ones expire first. */
  readonly #known = new Map<string, Attempt>();
  #latestMs = 0;

  constructor(context: QueueContext) {
    this.#context = context;
  }

  /** Takes over a note of an earlier epoch. @returns false for a note of another kind. */
  restore(key: string, bytes: Uint8Array): boolean {
    if (!key.startsWith(PREFIX)) return false;
    try {
      this.#keep(key.slice(PREFIX.length + TIME_LENGTH + 1), decodeChecked(bytes) as Attempt);
    } catch (error) {
      const { log, store, name } = this.#context;
      // Its messages come back when their visibility timeout ends, as without an attempt id.
      log.error(`Queue "${name}": a receive attempt id is damaged and forgotten: ${error}`);
      this.#context.write(() => store.writeNote(key, null));
    }
    return true;
  }

  /** Time in ms at which the latest attempt expires; `null` if there is none. Each turn before it may forget others. */
  get forgetAtMs(): number | null {
    return this.#known.size === 0 ? null : this.#latestMs + DEDUPLICATION_MS;
  }

  /** Within a turn: remembers an attempt. */
  note(attemptId: string, attempt: Attempt): void {
    this.#forget(attemptId);
    const [oldest] = this.#known.keys();
    if (this.#known.size >= ATTEMPTS_MAX && oldest !== undefined) this.#forget(oldest);
    this.#remember(attemptId, attempt);
  }

  /**
   * Within a turn: repeats an attempt with a new visibility timeout; `null` if it is unknown, or if one of its messages
   * was deleted, had its visibility changed or is visible again.
   */
  repeat(attemptId: string, visibilityMs: number, nowMs: number): Attempt | null {
    const { queue } = this.#context;
    this.expire(nowMs);
    const attempt = this.#known.get(attemptId);
    if (attempt === undefined) return null;
    const { receipts, receivedMs } = attempt;
    const isUntouched = receipts.every((receipt) => {
      const facts = factsOf(queue, receipt);
      return facts?.visibleAtMs === attempt.visibleAtMs && attempt.visibleAtMs > nowMs;
    });
    if (!isUntouched) {
      this.#forget(attemptId);
      return null;
    }
    // No receipt holds a message for longer than that from its receive, and these are the first receive's.
    const visibleAtMs = Math.min(nowMs + visibilityMs, receivedMs + VISIBILITY_TOTAL_MS_MAX);
    for (const receipt of receipts) changeVisibility(queue, receipt, { visibleAtMs, receivedMs }, nowMs);
    const again = { receipts, receivedMs, visibleAtMs };
    // Its five minutes count from the first receive, so its place among the others stays.
    this.#remember(attemptId, again);
    return again;
  }

  /** Within a turn: forgets the attempts that have expired. */
  expire(nowMs: number): void {
    for (const [attemptId, { receivedMs }] of this.#known) {
      if (nowMs < receivedMs + DEDUPLICATION_MS) return;
      this.#forget(attemptId);
    }
  }

  #remember(attemptId: string, attempt: Attempt): void {
    this.#keep(attemptId, attempt);
    const bytes = encodeChecked(attempt);
    this.#context.write(() => this.#context.store.writeNote(keyOf(attemptId, attempt), bytes));
  }

  #keep(attemptId: string, attempt: Attempt): void {
    this.#known.set(attemptId, attempt);
    this.#latestMs = Math.max(this.#latestMs, attempt.receivedMs);
  }

  #forget(attemptId: string): void {
    const known = this.#known.get(attemptId);
    if (known === undefined) return;
    this.#known.delete(attemptId);
    this.#context.write(() => this.#context.store.writeNote(keyOf(attemptId, known), null));
  }
}

/** Makes the key of an attempt's note. A contract, since stored data depends on it. */
function keyOf(attemptId: string, { receivedMs }: Attempt): string {
  return `${PREFIX}${String(receivedMs).padStart(TIME_LENGTH, "0")}:${attemptId}`;
}
