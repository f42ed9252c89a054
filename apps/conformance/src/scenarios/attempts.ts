import type { Scenario } from "../scenario/scenario.ts";

/** Scenarios of the properties of messages and batches, and of batches that a Worker hands over itself. */
export const ATTEMPTS: readonly Scenario[] = [
  {
    id: "identity-is-stable",
    covers: ["2.7 identity"],
    production: "`id` and `timestamp` stay the same over retries; `timestamp` is the time of the send",
    queues: { q: { consumer: { max_batch_size: 1 } } },
    send: async ({ q }) => {
      await q.send("a");
      return Date.now();
    },
    handle: (batch, { delivery }) => {
      if (delivery === 1) batch.retryAll({ delaySeconds: 2 });
    },
    expected: "same id, same timestamp, that of the send",
    observe: ({ batches, sent }) => {
      const [first, second] = batches.map(({ messages }) => messages[0]);
      if (first === undefined || second === undefined) return null;
      const same = (is: boolean) => (is ? "same" : "another");
      const isOfSend = Math.abs(first.timestampMs - Number(sent)) < 1_000;
      return (
        `${same(first.id === second.id)} id, ${same(first.timestampMs === second.timestampMs)} timestamp, ` +
        `${isOfSend ? "that" : "not that"} of the send`
      );
    },
  },
  {
    id: "message-id",
    covers: ["2.7 id"],
    production: "`id` is 32 hexadecimal digits",
    queues: { q: { consumer: { max_batch_size: 1 } } },
    send: ({ q }) => q.send("a"),
    expected: "32 digits",
    observe: ({ batches }) => {
      const id = batches[0]?.messages[0]?.id;
      return id?.replace(/^[0-9a-f]{32}$/, "32 digits") ?? null;
    },
  },
  {
    id: "batch-metadata",
    covers: ["2.1 metadata", "7 binding"],
    production: "`batch.metadata.metrics` tells of the backlog; zeros when nothing else waits",
    queues: { q: { consumer: { max_batch_size: 1 } } },
    send: ({ q }) => q.send("a"),
    handle: ({ metadata: { metrics } }, { note }) =>
      note(`${metrics.backlogCount} messages, ${metrics.backlogBytes} bytes`),
    expected: "0 messages, 0 bytes",
    observe: ({ batches }) => (batches[0] === undefined ? null : String(batches[0].notes[0])),
  },
  {
    id: "one-queue-per-batch",
    covers: ["2.7 one queue"],
    production: "A Worker can consume several queues; a batch holds messages of one",
    queues: {
      q: { consumer: { max_batch_size: 2, max_batch_timeout: 1 } },
      other: { consumer: { max_batch_size: 2, max_batch_timeout: 1 } },
    },
    send: async ({ q, other }) => {
      await Promise.all([q.send("of q"), other.send("of other")]);
      await Promise.all([q.send("of q"), other.send("of other")]);
    },
    expected: "2 bodies in 2 queues",
    observe: ({ batches }) => {
      const bodies = new Set(
        batches.flatMap(({ queue, messages }) => messages.map(({ body }) => `${queue} ${body}`)),
      );
      const queues = new Set(batches.map(({ queue }) => queue));
      return batches.length === 0 ? null : `${bodies.size} bodies in ${queues.size} queues`;
    },
  },
  {
    id: "native-dispatch",
    covers: ["2.8 call", "2.8 result", "2.8 thrown errors"],
    production:
      "A Worker with the flag `service_binding_extra_handlers` can hand a batch to a service binding " +
      "itself, and learns what its handler did",
    queues: {},
    send: async (_queues, env) => {
      const message = { id: "1", timestamp: new Date(0), attempts: 3, body: "a" };
      const result = await env.RECEIVER.queue("native-dispatch", [message]);
      return `${result.outcome}, ${result.explicitAcks.length} acknowledged`;
    },
    expected: "ok, 0 acknowledged",
    observe: ({ sent }) => String(sent),
  },
  {
    id: "native-dispatch-of-nothing",
    covers: ["2.8 empty"],
    production: "The batch that it hands over may be empty: the handler is called with no message",
    queues: {},
    send: async (_queues, env) => (await env.RECEIVER.queue("native-dispatch-of-nothing", [])).outcome,
    expected: "ok",
    observe: ({ sent }) => String(sent),
  },
];
