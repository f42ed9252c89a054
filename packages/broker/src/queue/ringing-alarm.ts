import { armNextWake, isAwake, type TimedQueue, type WakePorts } from "./next-wake.ts";

/**
 * The queue's one alarm, and the time for which it rings. It does not end while anything that it began is under way and
 * nothing else is due soon: the platform rings again if the object ends before. So no alarm has to be set for that,
 * which costs a row.
 */
export class RingingAlarm {
  readonly #queue: TimedQueue;
  readonly #ports: WakePorts;
  /** Called when nothing keeps the object awake any more; `null` while the alarm does not ring. */
  #rested: (() => void) | null = null;

  constructor(queue: TimedQueue, ports: WakePorts) {
    this.#queue = queue;
    this.#ports = ports;
  }

  /**
   * Does what is due as the alarm rings.
   *
   * @param stay waits until its argument resolves, or for `HEARTBEAT_MS` at most.
   */
  async ring(stay: (rested: Promise<void>) => Promise<unknown>): Promise<void> {
    const rested = Promise.withResolvers<void>();
    this.#rested = rested.resolve;
    try {
      await this.#queue.wake();
      await stay(rested.promise);
    } finally {
      this.#rested = null;
      this.#queue.rearm();
    }
  }

  /** Sets the alarm to the next moment at which anything is due. */
  set(): void {
    const isSet = armNextWake(this.#queue, this.#ports, this.#rested !== null);
    if (!isSet && isAwake(this.#queue)) return;
    // The next alarm rings after this one has ended. What begins from now on needs an alarm of its own.
    this.#rested?.();
    this.#rested = null;
  }
}
