import type { AnyQueue, Observation, Scenario, SeenBatch } from "../scenario/scenario.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, body) => ({ body }));

/** Counts the most batches whose handlers ran at the same time. */
function mostAtOnce(batches: readonly SeenBatch[]): number {
  const isRunning = (batch: SeenBatch, atMs: number) =>
    batch.atMs <= atMs && atMs < (batch.endedAtMs ?? atMs + 1);
  return Math.max(0, ...batches.map(({ atMs }) => batches.filter((batch) => isRunning(batch, atMs)).length));
}

const slow = () => scheduler.wait(500);
const fail = () => {
  throw new Error("on purpose");
};

async function backlogOf(queue: AnyQueue): Promise<string> {
  return `${(await queue.metrics()).backlogCount} waiting`;
}

/** Lists all messages as `QUEUE: BODY`, in the order of their deliveries. */
function arrivals({ batches }: Observation): string[] {
  return batches.flatMap(({ queue, messages }) => messages.map(({ body }) => `${queue}: ${body}`));
}

/** Scenarios of messages that fail or have no consumer, and of concurrent handlers. */
export const DELIVERY: readonly Scenario[] = [
  {
    id: "backlog-without-consumer",
    covers: ["4 no consumer"],
    production: "Messages of a queue without a consumer wait",
    queues: { q: { consumer: null } },
    send: async ({ q }) => {
      await q.send("a");
      return backlogOf(q);
    },
    expected: "1 waiting",
    observe: ({ sent }) => String(sent),
  },
  {
    id: "dead-letter-without-consumer",
    covers: ["4 DLQ without consumer"],
    production: "A dead-letter queue without a consumer keeps what it gets",
    queues: {
      q: { consumer: { max_batch_size: 1, max_retries: 0, dead_letter_queue: "dead-letter-kept" } },
      dead: { name: "dead-letter-kept", consumer: null },
    },
    send: async ({ q, dead }) => {
      await q.send("a");
      for (let polls = 0; polls < 40; polls++) {
        const backlog = await backlogOf(dead);
        if (backlog !== "0 waiting") return backlog;
        await scheduler.wait(200);
      }
      return "0 waiting";
    },
    handle: fail,
    expected: "1 waiting",
    observe: ({ sent }) => String(sent),
  },
  {
    id: "dead-letter-chain",
    covers: ["4 DLQ chain"],
    production: "The consumer of a dead-letter queue can have a dead-letter queue itself",
    queues: {
      q: { consumer: { max_batch_size: 1, max_retries: 0, dead_letter_queue: "dead-letter-chain-2" } },
      second: {
        name: "dead-letter-chain-2",
        consumer: { max_batch_size: 1, max_retries: 0, dead_letter_queue: "dead-letter-chain-3" },
      },
      third: { name: "dead-letter-chain-3", consumer: { max_batch_size: 1 } },
    },
    send: ({ q }) => q.send("a"),
    handle: (batch) => {
      if (batch.queue !== "dead-letter-chain-3") fail();
    },
    expected: "dead-letter-chain, dead-letter-chain-2, dead-letter-chain-3",
    observe: ({ batches }) => batches.map(({ queue }) => queue).join(", ") || null,
  },
  {
    id: "dead-letter-unnamed-queue",
    covers: ["4 DLQ created"],
    production:
      "A dead-letter queue that nothing else names comes into being by itself, and delivery goes on",
    queues: {
      q: { consumer: { max_batch_size: 1, max_retries: 0, dead_letter_queue: "named-nowhere-else" } },
    },
    send: async ({ q }) => {
      await q.send("dead");
      await q.send("next");
    },
    handle: (batch) => {
      if (batch.messages[0]?.body === "dead") fail();
    },
    expected: 'String "dead", String "next"',
    observe: (observation) =>
      arrivals(observation)
        .map((arrival) => arrival.split(": ")[1])
        .join(", ") || null,
  },
  {
    id: "dead-letter-without-queue",
    covers: ["4 retry count"],
    production:
      "Without a dead-letter queue a message that is out of retries is deleted; locally the log says so",
    queues: { q: { consumer: { max_batch_size: 1, max_retries: 1 } } },
    send: ({ q }) => q.send("a"),
    handle: fail,
    expected: "logged",
    observe: ({ log }) =>
      /Dropped message .* on queue "dead-letter-without-queue"/.test(log) ? "logged" : null,
  },
  {
    id: "concurrency-grows",
    covers: ["4 concurrency", "3.1 max_concurrency"],
    production: "While a backlog grows, more than one batch is handled at a time",
    queues: { q: { consumer: { max_batch_size: 1, max_batch_timeout: 0 } } },
    send: async ({ q }) => {
      for (let burst = 0; burst < 6; burst++) {
        await q.sendBatch(numbers(5));
        await scheduler.wait(600);
      }
    },
    handle: slow,
    expected: "several at a time",
    observe: ({ batches }) => (mostAtOnce(batches) > 1 ? "several at a time" : "one at a time"),
  },
  {
    id: "explicit-acks-survive",
    covers: ["2.4 explicit acks"],
    production: "What a handler acknowledged one by one before it failed does not come again",
    queues: { q: { consumer: { max_batch_size: 10, max_batch_timeout: 1 } } },
    send: ({ q }) => q.sendBatch(numbers(10)),
    handle: (batch, { delivery }) => {
      for (const message of batch.messages) {
        if (delivery === 1 && message.body === 7) fail();
        message.ack();
      }
    },
    watchMs: 6_000,
    expected: "10 + 3",
    observe: ({ batches }) => batches.map(({ messages }) => messages.length).join(" + ") || null,
  },
];
