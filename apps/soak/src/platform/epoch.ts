import type { QueueCore, Registration } from "@sluice/broker/testing";
import { beginsAfterMs, type LastEnd, UNPLANNED } from "@sluice/protocol";
import type { ScheduledEvent } from "../world/virtual-loop.ts";

/** How an epoch has ended. */
export interface EpochEnd {
  /** End as the next epoch is told of it. */
  readonly told: LastEnd;
  /** Whether the deliveries that it has cut off count as attempts. */
  readonly counts: boolean;
}

export const CRASHED: EpochEnd = { told: UNPLANNED, counts: true };
export const PLANNED: EpochEnd = { told: { kind: "planned" }, counts: false };

/** One life of a queue's object, from its start to its end, as the checkers and actors see it. */
export class Epoch {
  readonly number: number;
  readonly startMs: number;
  /** How the one before it has ended. */
  readonly lastEnd: EpochEnd;
  /** Delay of messages whose delivery a crash of the one before it has cut off, in ms. */
  readonly cutOffDelayMs: number;
  /** `null` while the queue is being opened, or cannot be. */
  core: QueueCore | null = null;
  /** `null` before the object has found out which queue it is. */
  registration: Registration | null = null;
  isAlive = true;
  /** Whether calls wait for the queue to be opened. */
  isOpening = true;
  /** Timers of waiting receives, and when they ring, in ms. */
  readonly #timers = new Set<{ readonly event: ScheduledEvent; readonly atMs: number }>();
  /** Whether its consumer was last found absent. */
  consumerIsAbsent = false;
  /** Number of pings to an absent consumer. Only the answer to the last one counts. */
  probes = 0;
  /**
   * Trial of an endpoint that is back: it has to prove itself with one request. `due` if that is the next one to leave;
   * a lease id if the request has left. `isUnclear` if a result may have ended the trial before it began.
   */
  trial: { readonly state: "none" | "due" | number; readonly isUnclear: boolean } = {
    state: "none",
    isUnclear: false,
  };
  /** Last version that was written when an endpoint's latest result came; -1 before the first. */
  resultVersion = -1;

  constructor(number: number, startMs: number, lastEnd: EpochEnd, cutOffDelayMs: number) {
    this.number = number;
    this.startMs = startMs;
    this.lastEnd = lastEnd;
    this.cutOffDelayMs = cutOffDelayMs;
  }

  /** Records that a timer for waiting receives is set. */
  timed(event: ScheduledEvent, atMs: number): void {
    this.#timers.add({ event, atMs });
  }

  /** Time at which the first timer rings, in ms; Infinity if none is set. */
  get timerAtMs(): number {
    for (const timer of this.#timers) if (timer.event.isCancelled) this.#timers.delete(timer);
    return Math.min(...[...this.#timers].map(({ atMs }) => atMs));
  }

  /** Time until which a Worker has to wait for other Workers, in ms. */
  heldUntilMs(worker: string | null): number {
    return this.startMs + beginsAfterMs(this.lastEnd.told, worker);
  }
}
