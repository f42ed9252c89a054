import { outcome, type Scenario } from "../scenario/scenario.ts";
import { bindingCase } from "./binding-case.ts";

const METRICS = "backlogBytes number, backlogCount number";

/** Names and types of figures, without their values. */
function shapeOf(figures: object): string {
  return Object.entries(figures)
    .filter(([key]) => key !== "oldestMessageTimestamp")
    .map(([key, value]) => `${key} ${typeof value}`)
    .sort()
    .join(", ");
}

/** Scenarios of `send`, `sendBatch` and `metrics` of the Queue binding. */
export const PRODUCER_METHODS: readonly Scenario[] = [
  bindingCase({
    id: "send-resolves-to-metrics",
    covers: ["1.1 send"],
    production: "`send(body)` resolves to `{metadata: {metrics}}` with `backlogCount` and `backlogBytes`",
    call: async (q) => shapeOf((await q.send("a")).metadata.metrics),
    expected: METRICS,
  }),
  bindingCase({
    id: "send-batch-resolves-to-metrics",
    covers: ["1.1 sendBatch"],
    production: "`sendBatch` takes any iterable, a generator too, and resolves to the same",
    call: async (q) => {
      const messages = (function* () {
        yield { body: 1 };
        yield { body: 2 };
      })();
      return shapeOf((await q.sendBatch(messages)).metadata.metrics);
    },
    expected: METRICS,
  }),
  {
    id: "metrics-of-a-backlog",
    covers: ["1.1 metrics", "1.1 M", "7 binding"],
    production:
      "`metrics()` tells how many messages wait, their bytes and, as a `Date`, when the oldest was " +
      "sent; at once after a send",
    queues: { q: { consumer: { max_batch_size: 10, max_batch_timeout: 60 } } },
    send: async ({ q }) => {
      await q.sendBatch([
        { body: "abc", contentType: "text" },
        { body: "de", contentType: "text" },
      ]);
      const { backlogCount, backlogBytes, oldestMessageTimestamp } = await q.metrics();
      const kind = oldestMessageTimestamp instanceof Date ? "a Date" : typeof oldestMessageTimestamp;
      return `${backlogCount} messages, ${backlogBytes} bytes, ${kind}`;
    },
    expected: "2 messages, 5 bytes, a Date",
    observe: ({ sent }) => String(sent),
  },
  {
    id: "metrics-of-an-empty-queue",
    covers: ["1.1 M"],
    production: "Of an empty queue, `metrics()` has zeros and no `oldestMessageTimestamp`",
    queues: { q: { consumer: {} } },
    send: ({ q }) => outcome(() => q.metrics()),
    expected: '{"backlogCount":0,"backlogBytes":0}',
    observe: ({ sent }) => {
      const { backlogCount, backlogBytes, ...rest } = JSON.parse(String(sent));
      return JSON.stringify({ backlogCount, backlogBytes, ...rest });
    },
  },
  {
    id: "send-result-counts-the-message",
    covers: ["7 send result"],
    production: "The metrics that a send resolves to are those after it: a first message counts",
    queues: { q: { consumer: { max_batch_timeout: 60 } } },
    send: async ({ q }) => (await q.send("abc")).metadata.metrics.backlogCount,
    expected: "1",
    observe: ({ sent }) => String(sent),
  },
  bindingCase({
    id: "binding-prototype",
    covers: ["1.1 prototype"],
    production: "The binding's methods are `metrics`, `send` and `sendBatch` of its prototype, nothing else",
    call: (q) => Object.getOwnPropertyNames(Object.getPrototypeOf(q)).sort().join(),
    expected: "constructor,metrics,send,sendBatch",
  }),
  bindingCase({
    id: "failures-are-rejections",
    covers: ["1.1 rejections"],
    production: "A wrong call rejects and never throws",
    call: async (q) => {
      const calls = [() => q.send(), () => q.sendBatch(), () => q.sendBatch([]), () => q.send(5n)];
      const outcomes = calls.map((call) => {
        try {
          return call().then(
            () => "resolved",
            () => "rejected",
          );
        } catch {
          return "threw";
        }
      });
      return (await Promise.all(outcomes)).join();
    },
    expected: "rejected,rejected,rejected,rejected",
  }),
  bindingCase({
    id: "error-has-cause-and-code",
    covers: ["1.8 flag on"],
    production: "From compatibility date 2026-03-12 on, a refused send says `Error: CAUSE (CODE)`",
    call: async (q) => {
      const error: Error = await q.send("x".repeat(128_001)).catch((reason: Error) => reason);
      return /^Error: .{10,} \((?!15000)\d{5}\)$/.test(String(error)) ? "cause (code)" : String(error);
    },
    expected: "cause (code)",
  }),
  bindingCase({
    id: "old-send-error",
    covers: ["1.8 flag off", "1.10 message size"],
    production: "Before, `Error: Queue send failed: ` and the status line",
    sender: "old-sender",
    call: (q) => q.send("x".repeat(128_001), { contentType: "text" }),
    expected: "Error: Queue send failed: message length of 128001 bytes exceeds limit of 128000",
  }),
];
