import type { QueueCore, Registration } from "@sluice/broker/testing";
import { beginsAfterMs, type LastEnd, UNPLANNED } from "@sluice/protocol";
import type { ScheduledEvent } from "../world/virtual-loop.ts";

/** How an epoch has ended. */
export interface EpochEnd {
  /** Told to the next one. */
  readonly told: LastEnd;
  /** Whether what it has cut off counts as an attempt, by what has happened. */
  readonly counts: boolean;
}

export const CRASHED: EpochEnd = { told: UNPLANNED, counts: true };
export const PLANNED: EpochEnd = { told: { kind: "planned" }, counts: false };

/** An object of a queue from its start to its end, as those who watch know it. */
export class Epoch {
  readonly number: number;
  readonly startMs: number;
  /** How the one before it has ended. */
  readonly lastEnd: EpochEnd;
  /** How long messages wait that a crash of the one before it has cut off, in ms. */
  readonly cutOffDelayMs: number;
  /** `null` while the queue is being opened, or cannot be. */
  core: QueueCore | null = null;
  /** Queue's registration; `null` before it is known what it is. */
  registration: Registration | null = null;
  isAlive = true;
  /** Whether calls wait for the queue to be opened. */
  isOpening = true;
  /** Timers of those who wait for messages, and when they ring, in ms. */
  readonly #timers = new Set<{ readonly event: ScheduledEvent; readonly atMs: number }>();
  /** Whether its consumer was last found absent. */
  consumerIsAbsent = false;
  /** Times that an absent consumer was asked whether it is back. Only the answer to the last question counts. */
  probes = 0;
  /**
   * Whether an endpoint that is back has to prove itself with one request: with the next one that leaves, or with one
   * that has left, by its lease. `isUnclear` if a result may have ended that before it began.
   */
  trial: { readonly state: "none" | "due" | number; readonly isUnclear: boolean } = {
    state: "none",
    isUnclear: false,
  };
  /** Last version that was written when the last result came from an endpoint. */
  resultVersion = -1;

  constructor(number: number, startMs: number, lastEnd: EpochEnd, cutOffDelayMs: number) {
    this.number = number;
    this.startMs = startMs;
    this.lastEnd = lastEnd;
    this.cutOffDelayMs = cutOffDelayMs;
  }

  /** A timer is set for those who wait for messages. */
  timed(event: ScheduledEvent, atMs: number): void {
    this.#timers.add({ event, atMs });
  }

  /** When the first of them rings, in ms; Infinity if none is set. */
  get timerAtMs(): number {
    for (const timer of this.#timers) if (timer.event.isCancelled) this.#timers.delete(timer);
    return Math.min(...[...this.#timers].map(({ atMs }) => atMs));
  }

  /** Until when a Worker has to wait for others, in ms. */
  heldUntilMs(worker: string | null): number {
    return this.startMs + beginsAfterMs(this.lastEnd.told, worker);
  }
}
