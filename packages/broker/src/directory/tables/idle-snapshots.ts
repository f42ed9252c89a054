import type { QueueAtRest } from "@sluice/protocol";
import { REPORT_AFTER_MS } from "../../store/watermark.ts";
import type { CommitPositions } from "./commit-positions.ts";

/** Time that a queue counts as awake after its start, in ms: by then it has reported its first commits. */
export const AWAKE_MS = 2 * REPORT_AFTER_MS;

/** Variables that say that a broker runs on a machine, and is not deployed. */
export interface PlaceEnv {
  readonly SLUICE_ENV?: string;
  readonly SLUICE_SERVED?: string;
}

/** Whether directory and queues are in one process, as they are not where the broker is deployed. */
export function endsWithQueues({ SLUICE_ENV, SLUICE_SERVED }: PlaceEnv): boolean {
  return SLUICE_ENV !== undefined || SLUICE_SERVED !== undefined;
}

/** Snapshots of queues that were idle by their latest report, and have not been started since. */
export class IdleSnapshots {
  readonly #positions: CommitPositions;
  readonly #now: () => number;
  readonly #isPart: (queue: string) => boolean;
  /** Starts of queues that have not reported since. In memory alone, because this object outlives `AWAKE_MS`. */
  readonly #startedMs = new Map<string, number>();
  /** Queues that have reported to this object; `null` where reports to an earlier one hold. */
  readonly #reported: Set<string> | null;

  /**
   * @param isPart whether an object keeps only a part of a queue: its snapshot is not the queue's.
   * @param endsWithQueues whether the process that ends this object ends the queues too. A queue that was killed before
   *   its report would be idle by an earlier one, so reports to an earlier object do not hold.
   */
  constructor(
    positions: CommitPositions,
    now: () => number,
    isPart: (queue: string) => boolean,
    endsWithQueues: boolean,
  ) {
    this.#positions = positions;
    this.#now = now;
    this.#isPart = isPart;
    this.#reported = endsWithQueues ? new Set() : null;
  }

  /** Takes the start of a queue. @returns whether it was idle by its latest report. */
  started(queue: string): boolean {
    this.#startedMs.set(queue, this.#now());
    return this.#holds(queue) && this.#positions.isIdle(queue);
  }

  /** Takes the report of a queue. @param snapshot `null` if it is not idle. @returns the text to store. */
  reported(queue: string, snapshot: QueueAtRest | null): string | null {
    this.#startedMs.delete(queue);
    this.#reported?.add(queue);
    return snapshot === null
      ? null
      : JSON.stringify({ ...snapshot, atMs: this.#now() } satisfies StoredSnapshot);
  }

  /** Lists the snapshots of idle queues, each with its own time moved on to now. */
  list(): QueueAtRest[] {
    const nowMs = this.#now();
    for (const [queue, startedMs] of this.#startedMs) {
      if (nowMs - startedMs >= AWAKE_MS) this.#startedMs.delete(queue);
    }
    return this.#positions
      .snapshots()
      .filter(({ queue }) => !this.#startedMs.has(queue) && !this.#isPart(queue) && this.#holds(queue))
      .map(({ text }) => JSON.parse(text) as StoredSnapshot)
      .map(({ queueId, description, atMs }) => ({
        queueId,
        description: { ...description, nowMs: description.nowMs + nowMs - atMs },
      }));
  }

  /** Whether the latest report of a queue holds. */
  #holds(queue: string): boolean {
    return this.#reported === null || this.#reported.has(queue);
  }
}

/** Snapshot of an idle queue. A contract, since it is stored as JSON. */
interface StoredSnapshot extends QueueAtRest {
  /** Time of the report, by the directory's clock. */
  readonly atMs: number;
}
