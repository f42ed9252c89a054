import { Alarm, MovableClock, QueueCore, type QueuePorts, type Registration } from "@sluice/broker/testing";
import { type LastEnd, UNPLANNED } from "@sluice/protocol";

/** How an epoch has ended. */
export interface EpochEnd {
  /** Told to the next one. */
  readonly told: LastEnd;
  /** Whether what it has cut off counts as an attempt, by what has happened. */
  readonly counts: boolean;
}

export const CRASHED: EpochEnd = { told: UNPLANNED, counts: true };
export const PLANNED: EpochEnd = { told: { kind: "planned" }, counts: false };

const NO_TRIAL = { state: "none", isUnclear: false } as const;
const GONE = new Error("Durable Object reset because its code was updated or it ran out of luck.");

/**
 * From its start to its crash, a queue's object in memory. When it has ended, whatever it still tries reaches nobody
 * and whatever it waited for never comes.
 */
export class Epoch {
  readonly number: number;
  /** How the one before it has ended. */
  readonly lastEnd: EpochEnd;
  /** How long messages wait that a crash of the one before it has cut off, in ms. */
  readonly cutOffDelayMs: number;
  readonly alarm: Alarm;
  /** Whether its consumer was last found absent. */
  consumerIsAbsent = false;
  /** Times that an absent consumer was asked whether it is back. Only the answer to the last question counts. */
  probes = 0;
  /**
   * Whether an endpoint that is back has to prove itself with one request: with the next one that leaves, or with one
   * that has left, by its lease. `isUnclear` if a result may have ended that before it began.
   */
  trial: { readonly state: "none" | "due" | number; readonly isUnclear: boolean } = NO_TRIAL;
  /** Last version that was written when the last result came from an endpoint. */
  resultVersion = -1;
  /** Queue's registration by the directory; `null` before the directory has told it, and where none is asked. */
  registration: Registration | null = null;
  /** Whether it is being found out what the queue is: calls wait. */
  isOpening: boolean;
  readonly #opened = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<never>();
  #core: QueueCore | null = null;
  #isAlive = true;

  /**
   * @param setAlarm Stores the alarm in the platform.
   * @param isOpening whether the directory is asked first.
   * @param lastEnd how the epoch before has ended, and how long what it has cut off waits if that counts.
   */
  constructor(
    number: number,
    nowMs: () => number,
    setAlarm: (atMs: number) => void,
    alarmAtMs: number | null,
    isOpening: boolean,
    lastEnd: EpochEnd & { readonly cutOffDelayMs: number },
  ) {
    this.number = number;
    this.lastEnd = lastEnd;
    this.cutOffDelayMs = lastEnd.cutOffDelayMs;
    this.isOpening = isOpening;
    this.alarm = new Alarm(new MovableClock({ now: nowMs }, 0), setAlarm);
    this.alarm.found(alarmAtMs);
    // Nobody may be waiting.
    this.#ended.promise.catch(() => {});
  }

  /** Loads the queue. It may break while it does: then the epoch has ended before it began. */
  begin(name: string, ports: QueuePorts): void {
    const core = new QueueCore(name, ports);
    core.begin();
    this.#core = core;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** `null` while the queue is being loaded. */
  get core(): QueueCore | null {
    return this.#core;
  }

  /** Calls the queue: once it is open, and until the epoch ends. */
  call<Result>(run: (core: QueueCore) => Promise<Result>): Promise<Result> {
    const answer = this.isOpening ? this.#opened.promise.then(() => this.#run(run)) : this.#run(run);
    return Promise.race([this.#ended.promise, answer]);
  }

  #run<Result>(run: (core: QueueCore) => Promise<Result>): Promise<Result> {
    return this.#core === null || !this.#isAlive ? Promise.reject(GONE) : run(this.#core);
  }

  /** It is known what the queue is, and the queue is loaded: calls that have waited go on. */
  opened(): void {
    this.isOpening = false;
    this.#opened.resolve();
  }

  /** Ends it; callers that wait hear of it. */
  end(): void {
    this.#isAlive = false;
    this.#ended.reject(GONE);
  }
}
