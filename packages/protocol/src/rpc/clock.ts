/** How the broker's time differs from that of the machine: development only. */
export interface ClockSetting {
  /** How far the clock is ahead of the machine's while it runs, in ms: 0 or more. */
  readonly offsetMs: number;
  /** The moment at which it stands, in ms since 1970; `null` while it runs. */
  readonly frozenAtMs: number | null;
}

/** The time of the machine. */
export const REAL_TIME: ClockSetting = { offsetMs: 0, frozenAtMs: null };

/** Next moment at which a queue acts by itself. */
export interface NextMoment {
  /** When something is due, in ms of the queue's clock; `null` if nothing is. */
  readonly atMs: number | null;
  /** Whether deliveries or transfers are under way: their end may change it. */
  readonly isBusy: boolean;
}
