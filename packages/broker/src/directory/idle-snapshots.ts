import type { QueueAtRest } from "@sluice/protocol";
import { REPORT_AFTER_MS } from "../store/watermark.ts";
import type { CommitPositions } from "./commit-positions.ts";

/**
 * How long a queue counts as awake after its start, in ms. What it commits first is reported by then; what it commits
 * later is known `REPORT_AFTER_MS` later at most.
 */
export const AWAKE_MS = 2 * REPORT_AFTER_MS;

/** Which queues are idle: those that said so in their latest report, and have not been started since. */
export class IdleSnapshots {
  readonly #positions: CommitPositions;
  readonly #now: () => number;
  /**
   * When queues were started that have not reported since. Lost with this object, which ends later than a report is
   * due.
   */
  readonly #startedMs = new Map<string, number>();

  constructor(positions: CommitPositions, now: () => number) {
    this.#positions = positions;
    this.#now = now;
  }

  /** A queue has been started. Answers whether it was idle by its latest report. */
  started(queue: string): boolean {
    this.#startedMs.set(queue, this.#now());
    return this.#positions.isIdle(queue);
  }

  /** A queue has reported; `null` if it is not idle. Answers what is to be kept of that. */
  reported(queue: string, snapshot: QueueAtRest | null): string | null {
    this.#startedMs.delete(queue);
    return snapshot === null
      ? null
      : JSON.stringify({ ...snapshot, atMs: this.#now() } satisfies StoredSnapshot);
  }

  /** The queues that are idle, each by its own time as it is now. */
  list(): QueueAtRest[] {
    const nowMs = this.#now();
    for (const [queue, startedMs] of this.#startedMs) {
      if (nowMs - startedMs >= AWAKE_MS) this.#startedMs.delete(queue);
    }
    return this.#positions
      .snapshots()
      .map((text) => JSON.parse(text) as StoredSnapshot)
      .filter(({ description }) => !this.#startedMs.has(description.queue))
      .map(({ queueId, description, atMs }) => ({
        queueId,
        description: { ...description, nowMs: description.nowMs + nowMs - atMs },
      }));
  }
}

/** A contract: this is stored. */
interface StoredSnapshot extends QueueAtRest {
  /** When it was reported, in the directory's time. */
  readonly atMs: number;
}
