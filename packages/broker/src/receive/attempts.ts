import { changeVisibility, factsOf, type Receipt, VISIBILITY_TOTAL_MS_MAX } from "@sluice/engine";
import { DEDUPLICATION_MS } from "@sluice/protocol";
import { checksumOfText } from "../store/checksum.ts";
import type { QueueContext } from "../turn/context.ts";

/** Receipts that a receive got, with its times in ms. */
export interface Attempt {
  readonly receipts: readonly Receipt[];
  readonly receivedMs: number;
  /** End of the visibility timeout that it was given. */
  readonly visibleAtMs: number;
}

/**
 * Most receives that are remembered by their names at a time: about 20 MB. Past it the oldest is forgotten, and
 * repeating it is a receive like any other.
 */
export const ATTEMPTS_MAX = 20_000;

const PREFIX = "attempt:";
/** Digits of a time in ms: notes come back in order of their keys, and with it of their times. */
const TIME_LENGTH = 16;

/**
 * Receives that named themselves (spec sqs 4.5): one that is repeated within five minutes gets the same messages with
 * the same receipts, as long as nothing has happened to any of them. Each is a note in the store, written with the
 * lease that it is of, so that an answer which was lost with the broker can be asked for again. Whoever names no
 * receive pays nothing.
 */
export class Attempts {
  readonly #context: QueueContext;
  /** In the order of their receives, so the first ones expire first. */
  readonly #known = new Map<string, Attempt>();
  #latestMs = 0;

  constructor(context: QueueContext) {
    this.#context = context;
  }

  /** Takes over a note of an earlier epoch; `false` if it is none of these. */
  restore(key: string, bytes: Uint8Array): boolean {
    if (!key.startsWith(PREFIX)) return false;
    try {
      const [checksum, text] = JSON.parse(new TextDecoder().decode(bytes)) as [number, string];
      if (checksum !== checksumOfText(text)) throw new Error("the checksum does not fit");
      this.#keep(key.slice(PREFIX.length + TIME_LENGTH + 1), JSON.parse(text) as Attempt);
    } catch (error) {
      const { log, store, name } = this.#context;
      // Its messages come back when their visibility timeout ends, as they do without a name.
      log.error(`Queue "${name}": a receive attempt id is damaged and forgotten: ${error}`);
      this.#context.write(() => store.writeNote(key, null));
    }
    return true;
  }

  /** When the latest one is over, in ms; `null` if there is none. Until then each turn forgets what it finds. */
  get forgetAtMs(): number | null {
    return this.#known.size === 0 ? null : this.#latestMs + DEDUPLICATION_MS;
  }

  /** Within a turn: remembers what a receive of that name got. */
  note(attemptId: string, attempt: Attempt): void {
    this.#forget(attemptId);
    const [oldest] = this.#known.keys();
    if (this.#known.size >= ATTEMPTS_MAX && oldest !== undefined) this.#forget(oldest);
    this.#remember(attemptId, attempt);
  }

  /**
   * Within a turn: the receive of that name with a new visibility timeout; `null` if there is none, or if a message of
   * it was deleted, had its visibility changed or is visible again.
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
    // No receipt holds a message for longer, and these are the first receive's.
    const visibleAtMs = Math.min(nowMs + visibilityMs, receivedMs + VISIBILITY_TOTAL_MS_MAX);
    for (const receipt of receipts) changeVisibility(queue, receipt, { visibleAtMs, receivedMs }, nowMs);
    const again = { receipts, receivedMs, visibleAtMs };
    // Its five minutes count from the first receive: its place among the others stays.
    this.#remember(attemptId, again);
    return again;
  }

  /** Within a turn: forgets what is over. */
  expire(nowMs: number): void {
    for (const [attemptId, { receivedMs }] of this.#known) {
      if (nowMs < receivedMs + DEDUPLICATION_MS) return;
      this.#forget(attemptId);
    }
  }

  #remember(attemptId: string, attempt: Attempt): void {
    this.#keep(attemptId, attempt);
    const text = JSON.stringify(attempt);
    const bytes = new TextEncoder().encode(JSON.stringify([checksumOfText(text), text]));
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

/** A contract: it is stored. */
function keyOf(attemptId: string, { receivedMs }: Attempt): string {
  return `${PREFIX}${String(receivedMs).padStart(TIME_LENGTH, "0")}:${attemptId}`;
}
