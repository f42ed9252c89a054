import type { HandlerTools, Scenario, SenderName } from "../scenario/scenario.ts";

interface Look {
  readonly id: string;
  readonly covers: readonly string[];
  readonly production: string;
  readonly sender?: SenderName;
  /** What the handler sees; runs in the consumer. */
  readonly look: (batch: MessageBatch, tools: HandlerTools) => unknown;
  readonly expected: string;
}

/** A scenario that looks at what a handler is given. */
function look({ look, ...row }: Look): Scenario {
  return {
    kind: "scenario",
    queues: { q: { consumer: { max_batch_size: 2, max_batch_timeout: 60 } } },
    send: ({ q }) => q.sendBatch([{ body: "a" }, { body: "b" }]),
    handle: (batch, tools) => tools.note(look(batch, tools)),
    observe: ({ batches }) => (batches[0] === undefined ? null : String(batches[0].notes[0])),
    ...row,
  };
}

const methods = (thing: object) => Object.getOwnPropertyNames(Object.getPrototypeOf(thing)).sort().join();

/** What the objects that a handler gets look like. */
export const CONSUMER_OBJECTS: readonly Scenario[] = [
  look({
    id: "batch-members",
    covers: ["2.1 MessageBatch"],
    production: "A batch has `queue`, `messages`, `metadata`, `ackAll` and `retryAll`",
    look: (batch) => [...Object.keys(batch).sort(), ...methods(batch).split(",")].join(),
    expected: "messages,metadata,queue,ackAll,constructor,retryAll",
  }),
  look({
    id: "batch-queue",
    covers: ["2.1 MessageBatch", "2.7 one queue"],
    production: "`batch.queue` is the queue's name",
    look: (batch) => batch.queue,
    expected: "batch-queue",
  }),
  look({
    id: "batch-messages",
    covers: ["2.1 MessageBatch"],
    production: "`batch.messages` is an ordinary array that is not frozen",
    look: ({ messages }) => `${Array.isArray(messages)} ${Object.isFrozen(messages)}`,
    expected: "true false",
  }),
  look({
    id: "message-members",
    covers: ["2.1 Message", "2.1 nothing else"],
    production:
      "A message has `id`, `timestamp`, `body`, `attempts`, `ack` and `retry`, and says nothing of delay or content type",
    look: ({ messages: [message] }) =>
      message && [...Object.keys(message).sort(), ...methods(message).split(",")].join(),
    expected: "attempts,body,id,timestamp,ack,constructor,retry",
  }),
  look({
    id: "message-timestamp",
    covers: ["2.1 Message"],
    production: "`timestamp` is a `Date`",
    look: ({ messages: [message] }) => Object.prototype.toString.call(message?.timestamp),
    expected: "[object Date]",
  }),
  look({
    id: "message-id",
    covers: ["2.7 id"],
    production: "`id` is 32 hexadecimal digits",
    look: ({ messages }) => messages.every(({ id }) => /^[0-9a-f]{32}$/.test(id)),
    expected: "true",
  }),
  look({
    id: "batch-metadata",
    covers: ["2.1 metadata", "7 binding"],
    production: "`batch.metadata.metrics` tells of the backlog; zeros when nothing else waits",
    look: ({ metadata: { metrics } }) => `${metrics.backlogCount} messages, ${metrics.backlogBytes} bytes`,
    expected: "0 messages, 0 bytes",
  }),
  look({
    id: "ack-and-retry-return-nothing",
    covers: ["2.1 Message"],
    production: "`ack`, `retry`, `ackAll` and `retryAll` return nothing",
    look: (batch) => {
      const [m1, m2] = batch.messages;
      return [m1?.ack(), m2?.retry(), batch.ackAll(), batch.retryAll()].map((result) => typeof result).join();
    },
    expected: "undefined,undefined,undefined,undefined",
  }),
];
