import type { Observation, Scenario } from "../scenario/scenario.ts";

const STEP_SECONDS = 4;
const CLOCK_SLACK_MS = 60;

/** Seconds from the end of the first delivery to the second, a multiple of the step. */
function retriedAfter({ batches }: Observation): string | null {
  const [first, second] = batches;
  if (first === undefined || second === undefined) return null;
  const waitedMs = second.atMs - (first.endedAtMs ?? first.atMs) + CLOCK_SLACK_MS;
  return `after ${Math.floor(waitedMs / 1000 / STEP_SECONDS) * STEP_SECONDS} s`;
}

interface RetryCase {
  readonly id: string;
  readonly covers: readonly string[];
  readonly production: string;
  readonly retryDelay?: number;
  readonly handle: (batch: MessageBatch) => void;
  readonly expected: string;
}

function retryCase({ retryDelay, handle, ...row }: RetryCase): Scenario {
  const delay = retryDelay === undefined ? {} : { retry_delay: retryDelay };
  return {
    kind: "scenario",
    queues: { q: { consumer: { max_batch_size: 1, ...delay } } },
    send: ({ q }) => q.send("a"),
    handle: (batch, { delivery }) => {
      if (delivery === 1) handle(batch);
    },
    observe: retriedAfter,
    ...row,
  };
}

/** Which of several delays counts when a message is retried. */
export const RETRY_DELAYS: readonly Scenario[] = [
  retryCase({
    id: "retry-own-delay",
    covers: ["1.5 retry"],
    production: "`message.retry({delaySeconds})` wins over the consumer's `retry_delay`",
    retryDelay: 3_600,
    handle: ({ messages: [message] }) => message?.retry({ delaySeconds: 4 }),
    expected: "after 4 s",
  }),
  retryCase({
    id: "retry-all-delay",
    covers: ["1.5 retry"],
    production: "`batch.retryAll({delaySeconds})` wins over it too",
    retryDelay: 3_600,
    handle: (batch) => batch.retryAll({ delaySeconds: 4 }),
    expected: "after 4 s",
  }),
  retryCase({
    id: "retry-delay-of-consumer",
    covers: ["1.5 retry", "3.1 retry_delay"],
    production: "A retry that names no delay waits for the consumer's `retry_delay`",
    retryDelay: 4,
    handle: (batch) => batch.retryAll(),
    expected: "after 4 s",
  }),
  retryCase({
    id: "retry-without-delay",
    covers: ["1.5 retry", "3.1 retry_delay"],
    production: "Without any delay a retry is immediate",
    handle: (batch) => batch.retryAll(),
    expected: "after 0 s",
  }),
  retryCase({
    id: "retry-delay-null",
    covers: ["2.1 retry coercion"],
    production: "`retry({delaySeconds: null})` is a delay of 0",
    retryDelay: 3_600,
    handle: ({ messages: [message] }) => message?.retry({ delaySeconds: null as unknown as number }),
    expected: "after 0 s",
  }),
  retryCase({
    id: "retry-delay-fraction",
    covers: ["2.1 retry coercion"],
    production: "A fraction of a second in a retry's delay is cut off",
    handle: ({ messages: [message] }) => message?.retry({ delaySeconds: 4.9 }),
    expected: "after 4 s",
  }),
];
