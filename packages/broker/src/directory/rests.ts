import type { QueueAtRest } from "@sluice/protocol";
import { REPORT_AFTER_MS } from "../watermark.ts";
import type { Marks } from "./marks.ts";

/**
 * How long a queue counts as awake after its start, in ms. What it commits first is reported by then; what it commits later is
 * known `REPORT_AFTER_MS` later at most.
 */
export const AWAKE_MS = 2 * REPORT_AFTER_MS;

/** Which queues are at rest: those that said so in their latest report, and have not been started since. */
export class Rests {
  readonly #marks: Marks;
  readonly #now: () => number;
  /** When queues were started that have not reported since. Lost with this life, which ends later than a report is due. */
  readonly #startedMs = new Map<string, number>();

  constructor(marks: Marks, now: () => number) {
    this.#marks = marks;
    this.#now = now;
  }

  /** A queue has been started. Answers whether it was at rest by its latest report. */
  started(queue: string): boolean {
    this.#startedMs.set(queue, this.#now());
    return this.#marks.isAtRest(queue);
  }

  /** A queue has reported; `null` if it is not at rest. Answers what is to be kept of that. */
  reported(queue: string, rest: QueueAtRest | null): string | null {
    this.#startedMs.delete(queue);
    return rest === null ? null : JSON.stringify({ ...rest, atMs: this.#now() } satisfies StoredRest);
  }

  /** The queues that are at rest, each by its own time as it is now. */
  list(): QueueAtRest[] {
    const nowMs = this.#now();
    for (const [queue, startedMs] of this.#startedMs) {
      if (nowMs - startedMs >= AWAKE_MS) this.#startedMs.delete(queue);
    }
    return this.#marks
      .rests()
      .map((text) => JSON.parse(text) as StoredRest)
      .filter(({ description }) => !this.#startedMs.has(description.queue))
      .map(({ queueId, description, atMs }) => ({
        queueId,
        description: { ...description, nowMs: description.nowMs + nowMs - atMs },
      }));
  }
}

/** A contract: this is stored. */
interface StoredRest extends QueueAtRest {
  /** When it was reported, in the directory's time. */
  readonly atMs: number;
}
