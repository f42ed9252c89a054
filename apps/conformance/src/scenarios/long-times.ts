import type { AnyQueue, Observation, Scenario } from "../scenario/scenario.ts";

const DAY_SECONDS = 86_400;
const TIMER = { kind: "yes" } as const;

const backlogOf = async (queue: AnyQueue) => (await queue.metrics()).backlogCount;
const nothing = async () => null;
const deliveriesByLap = ({ looks }: Observation) => looks.map(({ batches }) => batches).join(", ");
const foundByLap = ({ looks }: Observation) => looks.map(({ found }) => found).join(", ");

/** What takes a day or more: looked at after 23, 25, 95 and 97 hours. */
export const LONG_TIMES: readonly Scenario[] = [
  {
    kind: "scenario",
    id: "delay-of-a-day",
    covers: ["0 delay"],
    production: "A message with a delay of 24 hours comes after 24 hours: deliveries by then",
    queues: { q: { consumer: { max_batch_size: 1 } } },
    send: ({ q }) => q.send("a", { delaySeconds: DAY_SECONDS }),
    afterwards: { after: "laps", look: nothing, miniflare: TIMER },
    expected: "0, 1, 1, 1",
    observe: deliveriesByLap,
  },
  {
    kind: "scenario",
    id: "retry-after-a-day",
    covers: ["0 delay", "1.5 retry"],
    production:
      "A message that is retried with a delay of 24 hours comes again after 24 hours: deliveries by then",
    queues: { q: { consumer: { max_batch_size: 1 } } },
    send: ({ q }) => q.send("a"),
    handle: (batch, { delivery }) => {
      if (delivery === 1) batch.retryAll({ delaySeconds: DAY_SECONDS });
    },
    afterwards: { after: "laps", look: nothing, miniflare: TIMER },
    expected: "1, 2, 2, 2",
    observe: deliveriesByLap,
  },
  {
    kind: "scenario",
    id: "retention-of-4-days",
    covers: ["0 retention", "4 retention", "4 expired"],
    production: "A message that nobody takes is deleted after 4 days: messages that wait",
    queues: { q: { consumer: null } },
    send: ({ q }) => q.send("a"),
    afterwards: {
      after: "laps",
      look: ({ q }) => backlogOf(q),
      miniflare: { kind: "no", observed: "messages do not expire" },
    },
    expected: "1, 1, 1, 0",
    observe: foundByLap,
  },
  {
    kind: "scenario",
    id: "dead-letters-for-4-days",
    covers: ["4 DLQ without consumer"],
    production: "A dead letter that nobody takes waits for 4 days: messages that wait",
    queues: {
      q: {
        consumer: { max_batch_size: 1, max_retries: 0, dead_letter_queue: "dead-letters-for-4-days-dead" },
      },
      dead: { name: "dead-letters-for-4-days-dead", consumer: null },
    },
    send: ({ q }) => q.send("a"),
    handle: () => {
      throw new Error("on purpose");
    },
    afterwards: {
      after: "laps",
      look: ({ dead }) => backlogOf(dead),
      miniflare: { kind: "no", observed: "they are dropped" },
    },
    expected: "1, 1, 1, 0",
    observe: foundByLap,
  },
];
