import type { RowHead } from "../scenario/row.ts";
import type { AnyQueue, Observation, QueueSpec, Scenario } from "../scenario/scenario.ts";

/** Largest difference between the clocks of processes on a loaded machine, in ms. */
const CLOCK_SLACK_MS = 60;
/** Longer than any scenario runs, in seconds. */
const NEVER = 3_600;

/** Seconds from a message's send to its delivery, rounded down to a multiple of `step`, so that lateness is ignored. */
function secondsWaited({ batches }: Observation, step: number): number | null {
  const [message] = batches[0]?.messages ?? [];
  if (batches[0] === undefined || message === undefined) return null;
  const waitedMs = batches[0].atMs - message.timestampMs + CLOCK_SLACK_MS;
  return Math.floor(waitedMs / 1000 / step) * step;
}

interface DelayCase extends RowHead {
  readonly queue: Omit<QueueSpec, "consumer">;
  readonly send: (queue: AnyQueue) => Promise<unknown>;
  readonly expected: "after 0 s" | "after 4 s";
}

/** Makes a scenario that observes when a message comes: at once, after 4 seconds, or not within `PATIENCE_MS`. */
function delayCase({ queue, send, ...row }: DelayCase): Scenario {
  return {
    queues: { q: { ...queue, consumer: { max_batch_timeout: 0 } } },
    send: ({ q }) => send(q),
    observe: (observation) => {
      const seconds = secondsWaited(observation, 4);
      return seconds === null ? "not delivered" : `after ${seconds} s`;
    },
    ...row,
  };
}

/** Scenarios of sends with several delays, of which one counts. */
export const SEND_DELAYS: readonly Scenario[] = [
  delayCase({
    id: "message-delay-wins-over-batch",
    covers: ["1.5 enqueue"],
    production: "A message's own delay wins over its batch's",
    queue: {},
    send: (q) => q.sendBatch([{ body: "a", delaySeconds: 4 }], { delaySeconds: NEVER }),
    expected: "after 4 s",
  }),
  delayCase({
    id: "batch-delay-0-cancels-default",
    covers: ["1.5 zero"],
    production: "A batch's delay of 0 cancels it too",
    queue: { deliveryDelay: NEVER },
    send: (q) => q.sendBatch([{ body: "a" }], { delaySeconds: 0 }),
    expected: "after 0 s",
  }),
  delayCase({
    id: "delay-undefined-is-none",
    covers: ["1.4 omitted"],
    production: "`delaySeconds: undefined` leaves the default in force",
    queue: { deliveryDelay: 4 },
    send: (q) => q.send("a", { delaySeconds: undefined }),
    expected: "after 4 s",
  }),
];
