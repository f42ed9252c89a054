import { clearInterval, setInterval } from "node:timers";
import type { DeliveryLine } from "../wire.ts";
import { UnansweredError } from "./errors.ts";

/** Default time without any event, in ms: less than the 5 s that Vitest gives a test. */
export const TIMEOUT_MS_DEFAULT = 4_000;
/** Step in which time is counted, in ms. While the process is busy or in a debugger, many steps count as one. */
const STEP_MS = 50;

/**
 * Tracks open calls to workerd, and the deliveries and requests of Workers that they may wait for. A call rejects when
 * nothing has happened for some time, and when workerd is restarted or ended.
 */
export class OpenCalls {
  readonly #timeoutMs: number;
  readonly #deliveries = new Map<number, NonNullable<DeliveryLine["began"]>>();
  readonly #requests = new Set<{ readonly text: string }>();
  readonly #rejects = new Set<(error: Error) => void>();
  #happened = 0;
  #isStuck = false;
  #ended: UnansweredError | null = null;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Whether a call timed out. Its handler may still run. */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  /** Counts the start or the end of a delivery. */
  delivery({ n, began }: DeliveryLine): void {
    this.#happened += 1;
    if (began === undefined) this.#deliveries.delete(n);
    else this.#deliveries.set(n, began);
  }

  /** Counts a request of a Worker until it is answered. */
  async request<Result>(text: string, answer: () => Promise<Result>): Promise<Result> {
    const request = { text };
    this.#happened += 1;
    this.#requests.add(request);
    try {
      return await answer();
    } finally {
      this.#happened += 1;
      this.#requests.delete(request);
    }
  }

  /**
   * Waits for the answer to a call.
   *
   * @param what name of the call, in words.
   * @param waitMs how long the broker was asked to wait before it answers, in ms; not counted as a broker that hangs.
   * @throws UnansweredError when nothing has happened for some time, with what has not ended.
   */
  async answer<Result>(what: string, call: () => Promise<Result>, waitMs = 0): Promise<Result> {
    if (this.#ended !== null) throw this.#ended;
    const { promise, reject } = Promise.withResolvers<never>();
    let seen = this.#happened;
    let stoodMs = 0;
    const timer = setInterval(() => {
      stoodMs = seen === this.#happened ? stoodMs + STEP_MS : 0;
      seen = this.#happened;
      if (stoodMs < this.#timeoutMs + waitMs) return;
      this.#isStuck = true;
      reject(new UnansweredError(this.#stuckText(what)));
    }, STEP_MS);
    this.#rejects.add(reject);
    try {
      return await Promise.race([call(), promise]);
    } finally {
      clearInterval(timer);
      this.#rejects.delete(reject);
      this.#happened += 1;
    }
  }

  /** Begins anew with a restarted workerd. Open calls reject. */
  restart(): void {
    this.#reject(new UnansweredError("reset() was called before this was done."));
    this.#deliveries.clear();
    this.#requests.clear();
    this.#isStuck = false;
  }

  /** Rejects all calls, later ones too. */
  end(): void {
    this.#ended = new UnansweredError("The runtime was disposed of.");
    this.#reject(this.#ended);
  }

  #reject(error: Error): void {
    for (const reject of this.#rejects) reject(error);
  }

  #stuckText(what: string): string {
    const open = [
      ...[...this.#deliveries.values()].map(({ queue, consumer, messages }) => {
        const batch = `a batch of ${messages} ${messages === 1 ? "message" : "messages"}`;
        return `queue "${queue}", consumer "${consumer}": ${batch}`;
      }),
      ...[...this.#requests].map(({ text }) => text),
    ];
    const lines = (open.length === 0 ? [what] : open).map((line) => `\n  ${line}`);
    return (
      `Nothing has happened for ${this.#timeoutMs / 1_000} s, and this has not ended:${lines.join("")}\n` +
      "reset() ends it. What takes longer needs a larger `timeoutMs` of createQueueRuntime."
    );
  }
}
