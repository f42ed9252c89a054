/** Time that quiet events wait for their row, in ms: in development, and elsewhere. */
export const QUIET_FLUSH_MS = 1_000;
export const QUIET_FLUSH_DEPLOYED_MS = 8_000;

export interface QuietFlushPorts {
  readonly nowMs: number;
  readonly flushMs: number;
  /** Whether quiet events wait for the alarm, since a timer keeps the object awake. */
  readonly flushesByAlarm: boolean;
  /** Whether the queue is empty: then no later turn may come that could write quiet events. */
  readonly isAtRest: boolean;
  /** Starts a turn. */
  wake(): void;
  /** Calls back after a time in ms. Default: quiet events are written with every commit. */
  readonly after: ((callback: () => void, ms: number) => void) | undefined;
}

/**
 * Moment at which a history writes all quiet events that wait: `flushMs` after the first of them, by a timer or by the
 * alarm. Those that wait for the alarm are also written with a turn that leaves the queue empty.
 */
export class QuietFlush {
  readonly #ports: QuietFlushPorts;
  #isTimed = false;
  #isDue = false;
  #alarmAtMs: number | null = null;
  #latestMs = Number.NEGATIVE_INFINITY;

  constructor(ports: QuietFlushPorts) {
    this.#ports = ports;
  }

  /** When the alarm has to ring for the flush, in ms; `null` if nothing waits for the alarm. */
  get alarmAtMs(): number | null {
    return this.#alarmAtMs;
  }

  /** Whether anything waits to be written. */
  get isAwaited(): boolean {
    return this.#isTimed || this.#isDue || this.#alarmAtMs !== null;
  }

  /** Whether the latest flush is less than `flushMs` ago. */
  get wasJustNow(): boolean {
    return this.#ports.nowMs < this.#latestMs + this.#ports.flushMs;
  }

  /** Schedules a flush, unless one is scheduled. */
  later(): void {
    const { after, flushMs, flushesByAlarm, nowMs } = this.#ports;
    if (after === undefined) {
      this.#isDue = true;
      return;
    }
    if (flushesByAlarm) {
      this.#alarmAtMs ??= nowMs + flushMs;
      return;
    }
    if (this.#isTimed) return;
    this.#isTimed = true;
    after(() => {
      this.#isTimed = false;
      this.#isDue = true;
      this.#ports.wake();
    }, flushMs);
  }

  /** Makes a scheduled flush due in the next turn. */
  next(): void {
    this.#isDue ||= this.isAwaited;
  }

  /** Within a turn: takes the flush, if it is due. @returns whether it is. */
  take(): boolean {
    if (!this.#isDue && !this.#isDueByAlarm) return false;
    this.#isDue = false;
    this.#alarmAtMs = null;
    return true;
  }

  /** Notes the time of a flush. */
  done(): void {
    this.#latestMs = this.#ports.nowMs;
  }

  get #isDueByAlarm(): boolean {
    if (this.#alarmAtMs === null) return false;
    return this.#ports.nowMs >= this.#alarmAtMs || (this.#ports.isAtRest && !this.wasJustNow);
  }
}
