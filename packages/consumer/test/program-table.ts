import type { Settlement } from "@sluice/protocol";
import type { RetryOptions, Step } from "./program.ts";

/** Steps of the programs in the words of the table in spec cloudflare-queues 2.3. */
const WORDS: Readonly<Record<string, (options: RetryOptions) => Step>> = {
  "m1.ack": () => ({ do: "ack", message: 0 }),
  "m1.retry": (options) => ({ do: "retry", message: 0, options }),
  ackAll: () => ({ do: "ackAll" }),
  retryAll: (options) => ({ do: "retryAll", options }),
  throw: () => ({ do: "throw", what: "error" }),
};

/** The consumer's `retry_delay`, in seconds: "default" below. */
export const RETRY_DELAY_SECONDS = 11;

const ack: Settlement = { kind: "ack" };
const retry = (delaySeconds: number): Settlement => ({ kind: "retry", delaySeconds });
const byDefault = retry(RETRY_DELAY_SECONDS);

/** Every program of the table, and what must become of m1 and m2. */
export const PROGRAM_TABLE: readonly [program: string, m1: Settlement, m2: Settlement][] = [
  ["", ack, ack],
  ["m1.ack", ack, ack],
  ["m1.ack; m1.ack", ack, ack],
  ["m1.retry", byDefault, ack],
  ["m1.retry(5)", retry(5), ack],
  ["m1.retry(5); m1.retry", byDefault, ack],
  ["m1.retry(5); m1.retry(9)", retry(9), ack],
  ["m1.retry; m1.retry(9)", retry(9), ack],
  ["m1.retry(0)", retry(0), ack],
  ["m1.ack; m1.retry", ack, ack],
  ["m1.retry; m1.ack", byDefault, ack],
  ["ackAll", ack, ack],
  ["retryAll", byDefault, byDefault],
  ["retryAll(4)", retry(4), retry(4)],
  ["retryAll(4); retryAll", retry(4), retry(4)],
  ["retryAll; retryAll(8)", retry(8), retry(8)],
  ["ackAll; retryAll", ack, ack],
  ["retryAll; ackAll", byDefault, byDefault],
  ["ackAll; m1.ack", ack, ack],
  ["ackAll; m1.retry", ack, ack],
  ["retryAll; m1.ack", byDefault, byDefault],
  ["retryAll(4); m1.retry(2)", retry(2), retry(4)],
  ["m1.ack; ackAll", ack, ack],
  ["m1.ack; retryAll", ack, byDefault],
  ["m1.retry(3); ackAll", retry(3), ack],
  ["m1.retry(3); retryAll(7)", retry(3), retry(7)],
  ["m1.retry; retryAll(7)", retry(7), retry(7)],
  ["throw", byDefault, byDefault],
  ["m1.ack; throw", ack, byDefault],
  ["m1.retry(3); throw", retry(3), byDefault],
  ["ackAll; throw", ack, ack],
  ["retryAll(3); throw", retry(3), retry(3)],
];

/** Reads a program: `m1.retry(5); throw`. */
export function parseProgram(text: string): Step[] {
  const calls = text === "" ? [] : text.split("; ");
  return calls.map((call) => {
    const [, word = "", seconds] = /^([\w.]+?)(?:\((\d+)\))?$/.exec(call) ?? [];
    const step = WORDS[word];
    if (step === undefined) throw new Error(`"${call}" is no step`);
    return step((seconds as RetryOptions | undefined) ?? "none");
  });
}
