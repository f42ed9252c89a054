import { indented, oneLine } from "@sluice/protocol/words";

/** Event of one message that a developer wants to hear of. */
export type MessageOutcome = "retried" | "moved" | "dropped";

/** Log of a queue for developers. Nothing is left out, but what comes in a rush is summed up. */
export interface QueueLog {
  /** Logs a handled batch, with the number of its acknowledged messages and its duration in ms. */
  handled(queue: string, acked: number, total: number, tookMs: number): void;
  /**
   * Logs what happens to a message after a failed attempt.
   *
   * @param reason why, as the sum of many messages names it.
   * @param line makes the message's own line.
   */
  message(queue: string, outcome: MessageOutcome, reason: string, line: () => string): void;
  info(text: string): void;
  warn(text: string): void;
  error(text: string): void;
}

/**
 * Most lines of handled batches and of messages that are printed one by one within a second; further ones are summed
 * up.
 */
export const LINES_PER_SECOND = 20;

/** Destination of lines. */
export interface LineSink {
  log(line: string): void;
  warn(line: string): void;
  error(line: string): void;
}

/**
 * Makes a log that prints to the console. A queue that handles thousands of batches a second, or retries thousands of
 * messages, would spend most of its time printing them. So beyond `LINES_PER_SECOND` one line a second sums them up,
 * for as long as the rush goes on. Handlers throw any text: control characters are shown as text, and the line of a
 * message stays one.
 */
export function createConsoleLog(
  sink: LineSink,
  now: () => number,
  schedule: (callback: () => void, ms: number) => void,
): QueueLog {
  let windowStartMs = 0;
  /** Lines of this second, printed or not. */
  let lines = 0;
  /** Whether the second before had too many lines, so that this one has only a sum. */
  let isRush = false;
  let sum: Sum | null = null;
  const flush = () => {
    const ended = sum;
    sum = null;
    if (ended === null) return;
    if (ended.lines === 1) ended.printFirst();
    else if (ended.dropped > 0) sink.warn(oneLine(textOf(ended)));
    else sink.log(oneLine(textOf(ended)));
  };
  /** Prints a line, or else returns the sum that it goes into. */
  const printOrSum = (queue: string, print: () => void): Sum | null => {
    const nowMs = now();
    const passedMs = nowMs - windowStartMs;
    if (passedMs >= 1_000) {
      flush();
      isRush = passedMs < 2_000 && lines > LINES_PER_SECOND;
      windowStartMs = nowMs;
      lines = 0;
    }
    lines += 1;
    if (!isRush && lines <= LINES_PER_SECOND) {
      print();
      return null;
    }
    if (sum === null) {
      sum = { ...NOTHING, queue, printFirst: print };
      schedule(flush, windowStartMs + 1_000 - nowMs);
    }
    sum.lines += 1;
    return sum;
  };
  return {
    handled(queue, acked, total, tookMs) {
      const into = printOrSum(queue, () =>
        sink.log(`QUEUE ${queue} ${acked}/${total} acknowledged (${Math.round(tookMs)}ms)`),
      );
      if (into === null) return;
      into.acked += acked;
      into.total += total;
      into.batches += 1;
    },
    message(queue, outcome, reason, line) {
      const into = printOrSum(queue, () => {
        const text = oneLine(line());
        if (outcome === "dropped") sink.warn(text);
        else sink.log(text);
      });
      if (into === null) return;
      into[outcome] += 1;
      into.reason ??= reason;
      into.hasOtherReasons ||= into.reason !== reason;
    },
    info: (text) => sink.log(indented(text)),
    warn: (text) => sink.warn(indented(text)),
    error: (text) => sink.error(indented(text)),
  };
}

interface Sum extends Record<MessageOutcome, number> {
  queue: string;
  /** Lines that it stands for. */
  lines: number;
  /** Prints the first of them. */
  printFirst: () => void;
  batches: number;
  acked: number;
  total: number;
  /** The first one; `null` while there is none. */
  reason: string | null;
  hasOtherReasons: boolean;
}

const NOTHING = {
  lines: 0,
  batches: 0,
  acked: 0,
  total: 0,
  retried: 0,
  moved: 0,
  dropped: 0,
  reason: null,
  hasOtherReasons: false,
};

function textOf({ queue, batches, acked, total, reason, hasOtherReasons, ...counts }: Sum): string {
  const parts = [
    batches === 0
      ? null
      : `${acked}/${total} acknowledged (${batches} ${batches === 1 ? "batch" : "batches"})`,
    ...OUTCOMES.map(([outcome, words]) => (counts[outcome] === 0 ? null : `${counts[outcome]} ${words}`)),
  ].filter((part) => part !== null);
  const why =
    reason === null ? "" : `: ${reason.split("\n")[0]}${hasOtherReasons ? ", and other reasons" : ""}`;
  return `QUEUE ${queue} ${parts.join(", ")}${why}`;
}

const OUTCOMES: readonly (readonly [MessageOutcome, words: string])[] = [
  ["retried", "to be retried"],
  ["moved", "moved to the dead-letter queue"],
  ["dropped", "dropped"],
];

/** Makes the text of an unexpected error for the log, with its stack if there is one. */
export function traceOf(error: unknown): string {
  return indented(error instanceof Error && error.stack !== undefined ? error.stack : String(error));
}
