/** How often a runtime is pinged, in ms. */
export const PING_EVERY_MS = 1_000;
/**
 * Longest silence of a runtime at an end on purpose, in ms. If it is silent for longer, a handler may hang, and its
 * deliveries count as attempts: a user who ends the runtime for that must not get the same message again for ever.
 */
export const SILENT_AT_END_MS_MAX = 1_000;

/** Resolves when the runtime answers anything; rejects if it cannot be reached, or when the signal is aborted. */
type Ping = (signal: AbortSignal) => Promise<unknown>;

interface PulseOptions {
  readonly ping: Ping;
  /** How long the runtime may be silent, in ms: code of a Worker that never pauses keeps all else from running. */
  readonly silentMsMax: number;
  /** How long it may take to answer for the first time, in ms. Default: `silentMsMax`. */
  readonly firstAnswerMsMax?: number;
  /**
   * Called when the runtime has been silent for `ms`; again only after it has answered.
   *
   * @param ms the limit that it has reached.
   * @param isStarting whether it has never answered.
   */
  onSilent(ms: number, isStarting: boolean): void;
  /** Called when a silent runtime answers again. */
  onBack?(): void;
}

/**
 * Pings a runtime regularly. workerd has one thread for all Workers and the broker: an endless loop in one of them
 * keeps all from answering.
 *
 * Silence is measured in ticks of this process's timer, so that a machine that slept, or a process that was stopped, is
 * not taken for a runtime that hangs.
 */
export class Pulse {
  readonly #options: PulseOptions;
  readonly #timer: NodeJS.Timeout;
  /** The open ping; `null` when it has been answered or has failed. */
  #asking: AbortController | null = null;
  /** Whether the latest ping is answered. */
  #isAnswered = false;
  /** Ticks since the last answer on which a ping was not answered. */
  #unanswered = 0;
  #isSilent = false;
  #hasAnswered = false;

  constructor(options: PulseOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#tick(), PING_EVERY_MS);
    this.#timer.unref();
    this.#ask();
  }

  /** For how long the runtime has been silent, in ms. */
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

  /** Sends a ping, which stays open until it is answered or fails: a busy runtime answers it late. */
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

/** Whether a runtime answers a ping within `ms`. */
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
