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
  /** When the retention of a message ends first, in ms of the queue's clock. Absent for none. */
  readonly expiresAtMs?: number;
}

/** Queue in which nothing is under way. */
export interface SettledQueue extends NextMoment {
  /** Time in ms of the next delivery or transfer; `null` if there is none. */
  readonly workAtMs: number | null;
}

/** Methods of a queue's object for its clock. */
export interface QueueClockRpc {
  /** Moves the clock of this queue alone forward, in development. */
  advanceClock(queue: string, ms: number): Promise<void>;
  /** Applies the setting of the broker's clock, in development. */
  setClock(queue: string, setting: ClockSetting): Promise<void>;
  /** Applies the setting of a frozen clock, and resolves when nothing is under way, in development. */
  settleAt(queue: string, setting: ClockSetting): Promise<SettledQueue>;
  /** Finds the time of the next event in the queue if no call comes. */
  nextMoment(queue: string): Promise<NextMoment>;
  /** Does due work and sets the alarm anew, after the platform's clock was set. */
  clockWasSet(queue: string): Promise<void>;
}
