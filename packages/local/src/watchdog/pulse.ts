/** How often a runtime is asked for a sign of life, in ms. */
export const PING_EVERY_MS = 1_000;
/**
 * Longest that a runtime may be silent as it is ended on purpose, in ms. One that is silent for longer has a handler
 * that may hang, so its deliveries count as attempts: whoever ends it because it hangs must not be given the same
 * message again for ever.
 */
export const SILENT_AT_END_MS_MAX = 1_000;

/** Resolves when the runtime answers anything; rejects if it cannot be reached, or when the signal is aborted. */
type Ping = (signal: AbortSignal) => Promise<unknown>;

interface PulseOptions {
  readonly ping: Ping;
  /**
   * How long the runtime may be silent, in ms: code of a Worker that does not wait keeps everything else from running.
   */
  readonly silentMsMax: number;
  /** How long it may take to answer for the first time, in ms. Default: `silentMsMax`. */
  readonly firstAnswerMsMax?: number;
  /**
   * The runtime has been silent for that long. Called again only after it has answered.
   *
   * @param ms the limit that it has reached.
   * @param isStarting whether it has never answered.
   */
  onSilent(ms: number, isStarting: boolean): void;
  /** A runtime that was silent answers again. */
  onBack?(): void;
}

/**
 * Asks a runtime again and again whether it is there. workerd has one thread for all Workers and the broker: an endless
 * loop in one of them leaves nothing to be answered.
 *
 * Time is counted in questions that this process has come to ask, so that a machine which slept, or a process which was
 * stopped, is not taken for a runtime that hangs.
 */
export class Pulse {
  readonly #options: PulseOptions;
  readonly #timer: NodeJS.Timeout;
  #asking: AbortController | null = null;
  /** Whether the latest question is answered, and how often this process has looked since it was asked. */
  #isAnswered = false;
  #unanswered = 0;
  #isSilent = false;
  #hasAnswered = false;

  constructor(options: PulseOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#tick(), PING_EVERY_MS);
    this.#timer.unref();
    this.#ask();
  }

  /** For how long a question has been open, in ms. */
  get silentMs(): number {
    return this.#unanswered * PING_EVERY_MS;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#asking?.abort();
  }

  #tick(): void {
    if (this.#isAnswered) {
      this.#ask();
      return;
    }
    this.#unanswered += 1;
    if (this.#asking === null) this.#ask();
    const { silentMsMax, firstAnswerMsMax = 0 } = this.#options;
    const limitMs = this.#hasAnswered ? silentMsMax : Math.max(silentMsMax, firstAnswerMsMax);
    if (this.#isSilent || this.silentMs < limitMs) return;
    this.#isSilent = true;
    this.#options.onSilent(limitMs, !this.#hasAnswered);
  }

  /** A question stays open until it is answered or fails: a runtime that is busy for a while answers it then. */
  #ask(): void {
    const asking = new AbortController();
    this.#asking = asking;
    this.#isAnswered = false;
    this.#options.ping(asking.signal).then(
      () => this.#answered(asking),
      () => {
        if (this.#asking === asking) this.#asking = null;
      },
    );
  }

  #answered(asking: AbortController): void {
    if (this.#asking !== asking || asking.signal.aborted) return;
    this.#asking = null;
    this.#isAnswered = true;
    this.#unanswered = 0;
    this.#hasAnswered = true;
    if (!this.#isSilent) return;
    this.#isSilent = false;
    this.#options.onBack?.();
  }
}

/** Whether a runtime answers within a time in ms. */
export async function answersWithin(ping: Ping, ms: number): Promise<boolean> {
  const tooLate = new AbortController();
  const timer = setTimeout(() => tooLate.abort(), ms);
  try {
    await ping(tooLate.signal);
    return true;
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
