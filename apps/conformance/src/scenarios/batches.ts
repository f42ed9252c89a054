import type { AnyQueue, ConsumerKeys, Observation, Scenario } from "../scenario/scenario.ts";

const CLOCK_SLACK_MS = 60;

const send = (count: number) => (queues: Readonly<Record<string, AnyQueue>>) =>
  queues.q.sendBatch(Array.from({ length: count }, (_, body) => ({ body })));

function sizes({ batches }: Observation): string | null {
  return batches.map(({ messages }) => messages.length).join(" + ") || null;
}

/** Describes whether the first batch came before or after `ms`; `null` without one. */
function waited({ batches }: Observation, ms: number): string | null {
  const [batch] = batches;
  const [message] = batch?.messages ?? [];
  if (batch === undefined || message === undefined) return null;
  const isAfter = batch.atMs - message.timestampMs + CLOCK_SLACK_MS >= ms;
  return isAfter ? `after ${ms / 1000} s` : `before ${ms / 1000} s`;
}

function oneQueue(consumer: ConsumerKeys) {
  return { q: { consumer } };
}

/** Scenarios of the sizes of batches, and of the defaults of consumers. */
export const BATCHES: readonly Scenario[] = [
  {
    id: "default-batch-size",
    covers: ["0 max_batch_size", "3.1 max_batch_size"],
    production: "`max_batch_size` is 10 unless set",
    queues: oneQueue({ max_batch_timeout: 2 }),
    send: send(10),
    expected: "10",
    observe: sizes,
  },
  {
    id: "default-batch-timeout",
    covers: ["0 max_batch_timeout", "3.1 max_batch_timeout"],
    production: "`max_batch_timeout` is 5 s unless set",
    queues: oneQueue({}),
    send: send(1),
    expected: "after 5 s",
    observe: (observation) => waited(observation, 5_000),
  },
  {
    id: "default-retries",
    covers: ["0 max_retries", "3.1 max_retries", "4 retry count"],
    production: "`max_retries` is 3 unless set: a message that always fails is delivered 4 times",
    queues: oneQueue({ max_batch_timeout: 0 }),
    send: send(1),
    handle: (batch) => batch.retryAll(),
    watchMs: 8_000,
    expected: "deliveries: 4",
    observe: ({ batches }) => `deliveries: ${batches.length}`,
  },
];
