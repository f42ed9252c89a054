import type { Scenario } from "../scenario/scenario.ts";

const retryFirst =
  (times: number) =>
  (batch: MessageBatch, { delivery }: { readonly delivery: number }) => {
    if (delivery <= times) batch.retryAll();
  };

/** What stays the same from delivery to delivery, and what does not. */
export const ATTEMPTS: readonly Scenario[] = [
  {
    kind: "scenario",
    id: "attempts-count-deliveries",
    covers: ["2.7 attempts"],
    production: "`attempts` is 1 at the first delivery and one more at each further one",
    queues: { q: { consumer: { max_batch_size: 1, max_retries: 5 } } },
    send: ({ q }) => q.send("a"),
    handle: retryFirst(3),
    expected: "1, 2, 3, 4",
    observe: ({ batches }) => batches.map(({ messages }) => messages[0]?.attempts).join(", ") || null,
  },
  {
    kind: "scenario",
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
      return `${same(first.id === second.id)} id, ${same(first.timestampMs === second.timestampMs)} timestamp, ${isOfSend ? "that" : "not that"} of the send`;
    },
  },
  {
    kind: "scenario",
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
    kind: "scenario",
    id: "native-dispatch",
    covers: ["2.8 call", "2.8 result", "2.8 thrown errors"],
    production:
      "A Worker with the flag `service_binding_extra_handlers` can hand a batch to a service binding itself, and learns what its handler did",
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
    kind: "scenario",
    id: "native-dispatch-of-nothing",
    covers: ["2.8 empty"],
    production: "The batch that it hands over may be empty: the handler is called with no message",
    queues: {},
    send: async (_queues, env) => (await env.RECEIVER.queue("native-dispatch-of-nothing", [])).outcome,
    expected: "ok",
    observe: ({ sent }) => String(sent),
  },
];
