import type { AnyQueue, Observation, QueueSpec, Scenario } from "../scenario/scenario.ts";

/** Time that a loaded machine's clocks may be apart, in ms. */
const CLOCK_SLACK_MS = 60;
/** Longer than any scenario runs, in seconds. */
const NEVER = 3_600;

/** Whole seconds after its send that a message came, at least: a multiple of `step`, so that a slow machine matters not. */
function secondsWaited({ batches }: Observation, step: number): number | null {
  const [message] = batches[0]?.messages ?? [];
  if (batches[0] === undefined || message === undefined) return null;
  const waitedMs = batches[0].atMs - message.timestampMs + CLOCK_SLACK_MS;
  return Math.floor(waitedMs / 1000 / step) * step;
}

interface DelayCase {
  readonly id: string;
  readonly covers: readonly string[];
  readonly production: string;
  readonly queue: Omit<QueueSpec, "consumer">;
  readonly send: (queue: AnyQueue) => Promise<unknown>;
  readonly expected: "after 0 s" | "after 4 s";
}

/** A scenario that looks at when a message comes: at once, after 4 seconds, or not while anybody waits. */
function delayCase({ queue, send, ...row }: DelayCase): Scenario {
  return {
    kind: "scenario",
    queues: { q: { ...queue, consumer: { max_batch_timeout: 0 } } },
    send: ({ q }) => send(q),
    observe: (observation) => {
      const seconds = secondsWaited(observation, 4);
      return seconds === null ? "not delivered" : `after ${seconds} s`;
    },
    ...row,
  };
}

/** Which of several delays counts when a message is sent. */
export const SEND_DELAYS: readonly Scenario[] = [
  delayCase({
    id: "no-delay",
    covers: ["1.4 omitted", "1.5 enqueue"],
    production: "Without any delay a message can be delivered at once",
    queue: {},
    send: (q) => q.send("a"),
    expected: "after 0 s",
  }),
  delayCase({
    id: "message-delay-wins-over-batch",
    covers: ["1.5 enqueue"],
    production: "A message's own delay wins over its batch's",
    queue: {},
    send: (q) => q.sendBatch([{ body: "a", delaySeconds: 4 }], { delaySeconds: NEVER }),
    expected: "after 4 s",
  }),
  delayCase({
    id: "batch-delay-wins-over-binding",
    covers: ["1.5 enqueue"],
    production: "A batch's delay wins over the default delay",
    queue: { deliveryDelay: NEVER },
    send: (q) => q.sendBatch([{ body: "a" }], { delaySeconds: 4 }),
    expected: "after 4 s",
  }),
  delayCase({
    id: "longer-message-delay",
    covers: ["1.5 positive delay"],
    production: "A message's delay counts even where the default is shorter",
    queue: { deliveryDelay: 1 },
    send: (q) => q.send("a", { delaySeconds: 4 }),
    expected: "after 4 s",
  }),
  delayCase({
    id: "delay-0-cancels-default",
    covers: ["1.4 zero", "1.5 zero"],
    production: "A message's delay of 0 cancels the default delay",
    queue: { deliveryDelay: NEVER },
    send: (q) => q.send("a", { delaySeconds: 0 }),
    expected: "after 0 s",
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
    id: "message-delay-0-cancels-batch",
    covers: ["1.5 zero"],
    production: "A message's delay of 0 cancels its batch's delay",
    queue: {},
    send: (q) => q.sendBatch([{ body: "a", delaySeconds: 0 }], { delaySeconds: NEVER }),
    expected: "after 0 s",
  }),
  delayCase({
    id: "delay-null-is-0",
    covers: ["1.4 null"],
    production: "`delaySeconds: null` is 0 and cancels the default too",
    queue: { deliveryDelay: NEVER },
    send: (q) => q.send("a", { delaySeconds: null }),
    expected: "after 0 s",
  }),
  delayCase({
    id: "delay-nonsense-is-0",
    covers: ["1.4 null"],
    production: "A delay that is no number is 0",
    queue: { deliveryDelay: NEVER },
    send: (q) => q.send("a", { delaySeconds: "soon" }),
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
  delayCase({
    id: "delay-is-truncated",
    covers: ["1.4 coercion"],
    production: 'A delay is made a number and cut: `"4.9"` is 4 s',
    queue: {},
    send: (q) => q.send("a", { delaySeconds: "4.9" }),
    expected: "after 4 s",
  }),
];
