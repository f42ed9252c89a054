/** Log of a queue for developers. Lines are never dropped, but many handled batches are summed up. */
export interface QueueLog {
  /** Logs a handled batch, with the number of its acknowledged messages and its duration in ms. */
  handled(queue: string, acked: number, total: number, tookMs: number): void;
  info(text: string): void;
  warn(text: string): void;
  error(text: string): void;
}

/** Most lines of handled batches that are printed one by one within a second; further ones are summed up. */
export const HANDLED_LINES_PER_SECOND = 20;

/** Destination of lines. */
export interface LineSink {
  log(line: string): void;
  warn(line: string): void;
  error(line: string): void;
}

/**
 * Makes a log that prints to the console. A queue that handles thousands of batches a second would spend most of its
 * time printing them, so beyond `HANDLED_LINES_PER_SECOND` one line a second sums them up.
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

/** Makes the text of an unexpected error for the log, with its stack if there is one. */
export function traceOf(error: unknown): string {
  return error instanceof Error && error.stack !== undefined ? error.stack : String(error);
}
