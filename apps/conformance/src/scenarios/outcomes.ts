import type { RowHead } from "../scenario/row.ts";
import type { HandlerTools, Observation, ReceiverName, Scenario } from "../scenario/scenario.ts";

interface OutcomeCase extends RowHead {
  readonly receiver?: ReceiverName;
  readonly handle: (batch: MessageBatch, tools: HandlerTools) => unknown;
  readonly expected: "acknowledged" | "retried";
}

/** Time without another delivery after which a message counts as acknowledged, in ms. */
const WATCH_MS = 6_000;

/** Makes a scenario that observes whether a message comes a second time. */
function outcomeCase({ handle, receiver = "receiver", ...row }: OutcomeCase): Scenario {
  return {
    queues: { q: { receiver, consumer: { max_batch_size: 1 } } },
    send: ({ q }) => q.send("a"),
    handle: (batch, tools) => (tools.delivery === 1 ? handle(batch, tools) : undefined),
    watchMs: row.expected === "retried" ? 0 : WATCH_MS,
    observe: ({ batches }: Observation) =>
      batches.length === 0 ? null : batches.length === 1 ? "acknowledged" : "retried",
    ...row,
  };
}

const later = (ms: number) => scheduler.wait(ms);
const WAIT_UNTIL_MS = 400;

/** Scenarios of the ends of handlers, and their effects on the messages. */
export const OUTCOMES: readonly Scenario[] = [
  outcomeCase({
    id: "class-handler",
    covers: ["2.1 handler"],
    production: "A class that extends `WorkerEntrypoint` can be the consumer",
    receiver: "receiver-class",
    handle: (batch) => batch.ackAll(),
    expected: "acknowledged",
  }),
  outcomeCase({
    id: "async-handler",
    covers: ["2.5 returns"],
    production: "A handler whose promise resolves acknowledges its batch",
    handle: () => later(20),
    expected: "acknowledged",
  }),
  outcomeCase({
    id: "handler-throws",
    covers: ["2.5 throws"],
    production: "A handler that throws has its batch retried",
    handle: () => {
      throw new Error("on purpose");
    },
    expected: "retried",
  }),
  outcomeCase({
    id: "handler-hangs",
    covers: ["2.5 never settles"],
    production: "A handler that waits for something that can never happen is ended, and its batch retried",
    handle: () => new Promise(() => {}),
    expected: "retried",
  }),
  outcomeCase({
    id: "wait-until-rejects",
    covers: ["2.5 waitUntil"],
    production: "A promise given to `ctx.waitUntil` that rejects fails the batch",
    handle: (_batch, { ctx }) => ctx.waitUntil(later(20).then(() => Promise.reject(new Error("on purpose")))),
    expected: "retried",
  }),
  outcomeCase({
    id: "no-retry-in-wait-until",
    covers: ["2.6 no wait"],
    production: "With that flag a `retry()` in such a promise comes too late",
    receiver: "receiver-no-wait",
    handle: (batch, { ctx }) => ctx.waitUntil(later(WAIT_UNTIL_MS).then(() => batch.messages[0]?.retry())),
    expected: "acknowledged",
  }),
  {
    id: "no-handler",
    covers: ["2.5 no handler"],
    production:
      "A batch for a Worker without a `queue` handler fails and is retried; the log says `Received a " +
      "QueueEvent but we lack a handler for QueueEvents. …`",
    queues: {
      q: {
        receiver: "receiver-no-handler",
        consumer: { max_batch_size: 1, max_retries: 0, dead_letter_queue: "no-handler-dead" },
      },
      dead: { name: "no-handler-dead", consumer: { max_batch_size: 1 } },
    },
    send: ({ q }) => q.send("a"),
    expected: "failed, and logged",
    observe: ({ batches, log }) => {
      const isLogged = log.includes("Received a QueueEvent but we lack a handler for QueueEvents.");
      return batches.length === 0 ? null : `failed, and ${isLogged ? "logged" : "not logged"}`;
    },
  },
];
