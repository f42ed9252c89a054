import type { AnyQueue, ConsumerKeys, Observation, Scenario } from "../scenario/scenario.ts";

const CLOCK_SLACK_MS = 60;
const NEVER_FULL = 100;

const send = (count: number) => (queues: Readonly<Record<string, AnyQueue>>) =>
  queues.q.sendBatch(Array.from({ length: count }, (_, body) => ({ body })));

function sizes({ batches }: Observation): string | null {
  return batches.map(({ messages }) => messages.length).join(" + ") || null;
}

/** Whether a batch that is not full came before a time. */
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

/** How batches are made, and what consumers are set to unless they say. */
export const BATCHES: readonly Scenario[] = [
  {
    kind: "scenario",
    id: "default-batch-size",
    covers: ["0 max_batch_size", "3.1 max_batch_size"],
    production: "`max_batch_size` is 10 unless set",
    queues: oneQueue({ max_batch_timeout: 2 }),
    send: send(10),
    expected: "10",
    observe: sizes,
  },
  {
    kind: "scenario",
    id: "default-batch-timeout",
    covers: ["0 max_batch_timeout", "3.1 max_batch_timeout"],
    production: "`max_batch_timeout` is 5 s unless set",
    queues: oneQueue({}),
    send: send(1),
    expected: "after 5 s",
    observe: (observation) => waited(observation, 5_000),
  },
  {
    kind: "scenario",
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
  {
    kind: "scenario",
    id: "full-batch-goes-at-once",
    covers: ["3.2 trigger"],
    production: "A batch goes as soon as it is full, without waiting for its timeout",
    queues: oneQueue({ max_batch_size: 3, max_batch_timeout: 60 }),
    send: send(7),
    watchMs: 2_000,
    expected: "3 + 3",
    observe: sizes,
  },
  {
    kind: "scenario",
    id: "timeout-sends-the-rest",
    covers: ["3.2 trigger", "4 batch timeout"],
    production: "A batch that does not fill goes when its first message has waited for `max_batch_timeout`",
    queues: oneQueue({ max_batch_size: NEVER_FULL, max_batch_timeout: 3 }),
    send: send(2),
    expected: "2 after 3 s",
    observe: (observation) => {
      const when = waited(observation, 3_000);
      return when === null ? null : `${sizes(observation)} ${when}`;
    },
  },
  {
    kind: "scenario",
    id: "batch-of-100",
    covers: ["0 max_batch_size", "3.1 max_batch_size"],
    production: "A batch can hold 100 messages",
    queues: oneQueue({ max_batch_size: 100, max_batch_timeout: 2 }),
    send: send(100),
    expected: "100",
    observe: sizes,
  },
  {
    kind: "scenario",
    id: "no-empty-batches",
    covers: ["4 empty queue"],
    production: "An empty queue calls nobody",
    queues: oneQueue({ max_batch_timeout: 0 }),
    send: async () => undefined,
    watchMs: 4_000,
    expected: "no call",
    observe: ({ batches }) => (batches.length === 0 ? "no call" : "a call"),
  },
  {
    kind: "scenario",
    id: "retries-0",
    covers: ["3.1 max_retries", "4 retry count"],
    production: "`max_retries = 0` delivers once",
    queues: oneQueue({ max_batch_timeout: 0, max_retries: 0 }),
    send: send(1),
    handle: () => {
      throw new Error("on purpose");
    },
    watchMs: 5_000,
    expected: "deliveries: 1",
    observe: ({ batches }) => `deliveries: ${batches.length}`,
  },
  {
    kind: "scenario",
    id: "order-by-publish-time",
    covers: ["4 ordering"],
    production: "Messages come in the order of their sends as far as possible",
    queues: oneQueue({ max_batch_size: 4, max_batch_timeout: 1 }),
    send: async ({ q }) => {
      for (const body of [1, 2, 3, 4]) await q.send(body);
    },
    expected: "1, 2, 3, 4",
    observe: ({ batches }) =>
      batches.flatMap(({ messages }) => messages.map(({ body }) => body.replace("Number ", ""))).join(", ") ||
      null,
  },
];
