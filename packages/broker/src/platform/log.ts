/** Log of a queue for developers. Times in ms; one call per event, never dropped, but summed up when many. */
export interface QueueLog {
  /** A batch was handled: how many of its messages were acknowledged. */
  handled(queue: string, acked: number, total: number, tookMs: number): void;
  info(text: string): void;
  warn(text: string): void;
  error(text: string): void;
}

/** Lines of handled batches that are printed one by one within a second; further ones are summed up. */
export const HANDLED_LINES_PER_SECOND = 20;

/** Where lines go. */
export interface LineSink {
  log(line: string): void;
  warn(line: string): void;
  error(line: string): void;
}

/**
 * Prints to the console. A queue that handles thousands of batches a second would otherwise spend most of its time
 * printing them, so past `HANDLED_LINES_PER_SECOND` one line a second says what the batches add up to.
 */
export function createConsoleLog(
  sink: LineSink,
  now: () => number,
  schedule: (callback: () => void, ms: number) => void,
): QueueLog {
  let windowStartMs = 0;
  let printed = 0;
  let summed: { queue: string; acked: number; total: number; batches: number } | null = null;
  const flush = () => {
    if (summed === null) return;
    const { queue, acked, total, batches } = summed;
    summed = null;
    sink.log(`QUEUE ${queue} ${acked}/${total} (${batches} batches)`);
  };
  return {
    handled(queue, acked, total, tookMs) {
      const nowMs = now();
      if (nowMs - windowStartMs >= 1000) {
        flush();
        windowStartMs = nowMs;
        printed = 0;
      }
      if (printed < HANDLED_LINES_PER_SECOND) {
        printed += 1;
        sink.log(`QUEUE ${queue} ${acked}/${total} (${Math.round(tookMs)}ms)`);
        return;
      }
      if (summed === null) {
        summed = { queue, acked: 0, total: 0, batches: 0 };
        schedule(flush, windowStartMs + 1000 - nowMs);
      }
      summed.acked += acked;
      summed.total += total;
      summed.batches += 1;
    },
    info: (text) => sink.log(text),
    warn: (text) => sink.warn(text),
    error: (text) => sink.error(text),
  };
}

/** Makes the text of the log for an exception that ought not to be: with the place where it was thrown, if it knows. */
export function traceOf(error: unknown): string {
  return error instanceof Error && error.stack !== undefined ? error.stack : String(error);
}
