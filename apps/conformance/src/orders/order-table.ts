import type { Settled } from "../../workers/orders/settled.ts";

/** The consumer's `retry_delay`, in seconds. */
export const RETRY_DELAY_SECONDS = 11;
const AGAIN: Settled = `retry ${RETRY_DELAY_SECONDS} s`;

/** Orders of calls in the table of spec cloudflare-queues 2.3, with the expected settlements of m1 and m2. */
export const ORDER_TABLE: readonly [program: string, m1: Settled, m2: Settled][] = [
  ["", "ack", "ack"],
  ["m1.ack", "ack", "ack"],
  ["m1.ack; m1.ack", "ack", "ack"],
  ["m1.retry", AGAIN, "ack"],
  ["m1.retry(5)", "retry 5 s", "ack"],
  ["m1.retry(5); m1.retry", AGAIN, "ack"],
  ["m1.retry(5); m1.retry(9)", "retry 9 s", "ack"],
  ["m1.retry; m1.retry(9)", "retry 9 s", "ack"],
  ["m1.retry(0)", "retry 0 s", "ack"],
  ["m1.ack; m1.retry", "ack", "ack"],
  ["m1.retry; m1.ack", AGAIN, "ack"],
  ["ackAll", "ack", "ack"],
  ["retryAll", AGAIN, AGAIN],
  ["retryAll(4)", "retry 4 s", "retry 4 s"],
  ["retryAll(4); retryAll", "retry 4 s", "retry 4 s"],
  ["retryAll; retryAll(8)", "retry 8 s", "retry 8 s"],
  ["ackAll; retryAll", "ack", "ack"],
  ["retryAll; ackAll", AGAIN, AGAIN],
  ["ackAll; m1.ack", "ack", "ack"],
  ["ackAll; m1.retry", "ack", "ack"],
  ["retryAll; m1.ack", AGAIN, AGAIN],
  ["retryAll(4); m1.retry(2)", "retry 2 s", "retry 4 s"],
  ["m1.ack; ackAll", "ack", "ack"],
  ["m1.ack; retryAll", "ack", AGAIN],
  ["m1.retry(3); ackAll", "retry 3 s", "ack"],
  ["m1.retry(3); retryAll(7)", "retry 3 s", "retry 7 s"],
  ["m1.retry; retryAll(7)", "retry 7 s", "retry 7 s"],
  ["throw", AGAIN, AGAIN],
  ["m1.ack; throw", "ack", AGAIN],
  ["m1.retry(3); throw", "retry 3 s", AGAIN],
  ["ackAll; throw", "ack", "ack"],
  ["retryAll(3); throw", "retry 3 s", "retry 3 s"],
];
