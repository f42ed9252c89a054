import type { Scenario } from "../scenario/scenario.ts";

interface Warning {
  readonly id: string;
  readonly calls: string;
  readonly run: (batch: MessageBatch, message: Message) => void;
  readonly text: (id: string) => string;
}

const noEffect = (call: string, after: string, on: string) =>
  `Received a call to ${call}() ${on}after ${after}() was already called. Calling ${call}() ${on === "" ? "" : "on a message "}after calling ${after}() has no effect.`;
const onMessage = (call: string, after: string) => (id: string) => noEffect(call, after, `on message ${id} `);
const onBatch = (call: string, after: string) => () => noEffect(call, after, "");

const WARNINGS: readonly Warning[] = [
  {
    id: "retry-after-ack-all",
    calls: "`retry()` after `ackAll()`",
    run: (batch, message) => {
      batch.ackAll();
      message.retry();
    },
    text: onMessage("retry", "ackAll"),
  },
  {
    id: "retry-after-ack",
    calls: "`retry()` after `ack()`",
    run: (_batch, message) => {
      message.ack();
      message.retry();
    },
    text: onMessage("retry", "ack"),
  },
  {
    id: "ack-after-retry-all",
    calls: "`ack()` after `retryAll()`",
    run: (batch, message) => {
      batch.retryAll({ delaySeconds: 3_600 });
      message.ack();
    },
    text: onMessage("ack", "retryAll"),
  },
  {
    id: "ack-after-retry",
    calls: "`ack()` after `retry()`",
    run: (_batch, message) => {
      message.retry({ delaySeconds: 3_600 });
      message.ack();
    },
    text: onMessage("ack", "retry"),
  },
  {
    id: "retry-all-after-ack-all",
    calls: "`retryAll()` after `ackAll()`",
    run: (batch) => {
      batch.ackAll();
      batch.retryAll();
    },
    text: onBatch("retryAll", "ackAll"),
  },
  {
    id: "ack-all-after-retry-all",
    calls: "`ackAll()` after `retryAll()`",
    run: (batch) => {
      batch.retryAll({ delaySeconds: 3_600 });
      batch.ackAll();
    },
    text: onBatch("ackAll", "retryAll"),
  },
];

/** Calls without effect are said on the console, in the runtime's words. */
export const SETTLEMENT_WARNINGS: readonly Scenario[] = WARNINGS.map(
  ({ id, calls, run, text }): Scenario => ({
    kind: "scenario",
    id: `warn-${id}`,
    covers: [`2.2 ${id}`],
    production: `${calls} is ignored with the warning \`${text("ID")}\``,
    queues: { q: { consumer: { max_batch_size: 1 } } },
    send: ({ q }) => q.send("a"),
    handle: (batch) => {
      const [message] = batch.messages;
      if (message !== undefined) run(batch, message);
    },
    expected: "the warning",
    observe: ({ batches, log }) => {
      const messageId = batches[0]?.messages[0]?.id ?? "";
      return log.includes(text(messageId)) ? "the warning" : null;
    },
  }),
);
