import type { AnyQueue, Scenario } from "../scenario/scenario.ts";

const backlogOf = async ({ q }: Readonly<Record<string, AnyQueue>>) =>
  `${(await q.metrics()).backlogCount} waiting`;
const BATCHES_OF_100 = 101;

/** Scenarios of restarts of the process, and of large backlogs. */
export const DURABILITY: readonly Scenario[] = [
  {
    id: "restart-keeps-messages",
    covers: ["4 guarantee"],
    production: "What waits is stored: nothing is lost when the process is started again",
    queues: { q: { consumer: { max_batch_size: 100, max_batch_timeout: 60 } } },
    send: ({ q }) => q.sendBatch([{ body: 1 }, { body: 2 }]),
    afterRestart: backlogOf,
    expected: "2 waiting",
    observe: ({ found }) => String(found),
  },
  {
    id: "restart-keeps-delayed-messages",
    covers: ["4 guarantee", "7 what counts"],
    production: "Messages that are delayed are stored too",
    queues: { q: { consumer: {} } },
    send: ({ q }) => q.send("a", { delaySeconds: 3_600 }),
    afterRestart: backlogOf,
    expected: "1 waiting",
    observe: ({ found }) => String(found),
  },
  {
    id: "restart-keeps-retries",
    covers: ["4 guarantee"],
    production: "Messages that wait for their next attempt are stored too",
    queues: { q: { consumer: { max_batch_size: 1, retry_delay: 3_600 } } },
    send: async ({ q }) => {
      await q.send("a");
      for (let polls = 0; polls < 50 && (await backlogOf({ q })) !== "1 waiting"; polls++) {
        await scheduler.wait(100);
      }
      // The message counts before its delivery too: wait until that is over.
      await scheduler.wait(1_000);
    },
    handle: (batch) => batch.retryAll(),
    afterRestart: backlogOf,
    expected: "1 waiting",
    observe: ({ found }) => String(found),
  },
  {
    id: "delayed-messages-count",
    covers: ["7 what counts"],
    production: "The backlog includes messages that are delayed",
    queues: { q: { consumer: {} } },
    send: async ({ q }) => {
      await q.send("a", { delaySeconds: 3_600 });
      return backlogOf({ q });
    },
    expected: "1 waiting",
    observe: ({ sent }) => String(sent),
  },
  {
    id: "many-delayed-messages",
    covers: ["1.6 backlog"],
    production: "More than 10,000 messages can be delayed at a time",
    queues: { q: { consumer: {} } },
    send: async ({ q }) => {
      const hundred = Array.from({ length: 100 }, (_, body) => ({ body, delaySeconds: 3_600 }));
      for (let batch = 0; batch < BATCHES_OF_100; batch++) await q.sendBatch(hundred);
      return "all taken";
    },
    expected: "all taken",
    observe: ({ sent }) => String(sent),
  },
];
