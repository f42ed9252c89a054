import fc from "fast-check";
import { hostileText, junk } from "../values.ts";
import { API, Asker, json } from "./asker.ts";
import type { Shape } from "./shape.ts";
import { checkWhole, openWhole } from "./whole-broker.ts";

/*
 * Lines of a backup with odd values. Each may be imported or refused. Afterwards all lists must answer and messages
 * must go through, also after the broker is opened again.
 */

const HOME = "us-east-1:000000000000";
const TOPIC = `arn:aws:sns:${HOME}:news`;
/** URL without a server. */
const ENDPOINT = "http://127.0.0.1:9/hook";

const plain = { deliveryDelaySeconds: 0, messageRetentionSeconds: 345_600 };
const orders = { name: "orders", settings: plain, consumer: null, jurisdiction: null, dialects: {} };
const topic = { arn: TOPIC, isFifo: false, attributes: {}, tags: {} };
const shared = { maxRetries: 3, retryDelaySeconds: 1, deadLetterQueue: "dead" };
const push = {
  ...shared,
  url: ENDPOINT,
  format: "sluice",
  contentType: null,
  readinessPath: null,
  maxConcurrency: 1,
  connectTimeoutSeconds: 1,
  responseTimeoutSeconds: 1,
};
const task = { name: "nightly", url: "/tasks", schedule: "* * * * *", days: "or" };
const daemon = {
  visibilityTimeoutSeconds: 300,
  errorVisibilityTimeoutSeconds: null,
  retentionSeconds: 60,
  periodicTasks: [task],
  taskRuns: { catchUp: "one", catchUpSeconds: 60, overlap: "skip" },
  trustsTaskAttributes: false,
};
const message = {
  id: "0".repeat(32),
  sentAt: "2026-11-23T00:00:00.000Z",
  attempts: 2,
  delaySeconds: 0,
  contentType: "text",
  text: "x",
  group: "g",
  attributes: { a: { type: "String", value: "v" } },
  from: "orders",
};

/** Lines of a backup with all possible members, and the paths to which they are sent. */
const LINES: readonly { readonly path: string; readonly line: unknown }[] = [
  {
    path: "/queues",
    line: {
      ...orders,
      name: "whole.fifo",
      settings: {
        ...plain,
        maxReceivesPerSecond: 5,
        deliveryPaused: false,
        historySeconds: 60,
        finishedMessages: 1,
        fifo: { deduplicationScope: "queue", contentBasedDeduplication: true },
        receive: {
          visibilityTimeoutMs: 1_000,
          waitMs: 0,
          redrive: { deadLetterQueue: "dead.fifo", maxReceiveCount: 3 },
        },
      },
      jurisdiction: "eu",
      dialects: { sqs: { attributes: { Policy: '{"Statement":[]}' }, tags: { team: "a" } } },
    },
  },
  {
    path: "/queues",
    line: {
      ...orders,
      name: "worked",
      consumer: {
        type: "worker",
        worker: "w",
        settings: { ...shared, maxBatchSize: 10, maxBatchTimeoutSeconds: 5, maxConcurrency: null },
      },
    },
  },
  {
    path: "/queues",
    line: {
      ...orders,
      name: "pulled",
      consumer: {
        type: "http_pull",
        settings: {
          ...shared,
          maxBatchSize: 10,
          visibilityTimeoutMs: 1_000,
          retryPolicy: { kind: "exponential", base: 2, maxSeconds: 60, jitter: "full" },
        },
      },
    },
  },
  {
    path: "/queues",
    line: {
      ...orders,
      name: "pushed",
      consumer: {
        type: "http_push",
        settings: { ...push, headers: { "X-A": "$HOME" }, signingSecret: "SECRET", clientErrors: "retry" },
      },
    },
  },
  {
    path: "/queues",
    line: {
      ...orders,
      name: "daemon",
      consumer: { type: "http_push", settings: { ...push, format: "sqsd", daemon } },
    },
  },
  {
    path: "/topics",
    line: {
      ...topic,
      arn: `${TOPIC}-2`,
      attributes: { DisplayName: "n", DeliveryPolicy: '{"http":{"disableSubscriptionOverrides":true}}' },
      tags: { team: "a" },
    },
  },
  {
    path: "/topic-subscriptions",
    line: {
      arn: `${TOPIC}:1`,
      topicArn: TOPIC,
      protocol: "sqs",
      endpoint: `arn:aws:sqs:${HOME}:orders`,
      target: "orders",
      deadLetterQueue: null,
      isConfirmed: true,
      lacksPassword: false,
      attributes: { FilterPolicy: '{"a":["x"]}', RawMessageDelivery: "true" },
    },
  },
  {
    path: "/topic-subscriptions",
    line: {
      arn: `${TOPIC}:2`,
      topicArn: TOPIC,
      protocol: "http",
      endpoint: ENDPOINT,
      target: "subscription/2",
      deadLetterQueue: "dead",
      isConfirmed: true,
      lacksPassword: false,
      attributes: {
        RedrivePolicy: JSON.stringify({ deadLetterTargetArn: `arn:aws:sqs:${HOME}:dead` }),
        DeliveryPolicy: '{"healthyRetryPolicy":{"minDelayTarget":1,"maxDelayTarget":2,"numRetries":3}}',
      },
    },
  },
  {
    path: "/subscriptions",
    line: { name: "r2", enabled: true, source: { type: "r2" }, queue: "orders", events: ["bucket.created"] },
  },
  { path: "/messages?queue=orders", line: { messages: [message] } },
  { path: "/messages?queue=whole.fifo", line: { messages: [message] } },
];

/** Placeholder for deeply nested arrays or objects, which `filledText` can write and `JSON.stringify` cannot. */
const levelsText = (levels: number, opening: "[" | "{") => `<<${levels}${opening}>>`;
const odd: fc.Arbitrary<unknown> = fc.oneof(
  junk,
  fc.constantFrom<unknown>(
    ...[
      "../../x",
      "a\nb",
      "a\n",
      "\u001b[2J",
      "<img src=x>",
      "__proto__",
      "orders",
      "subscription/1",
      ".fifo",
    ],
    ...[
      "$SLUICE_API_TOKENS",
      "http://[",
      "http://127.0.0.1:9",
      "file:///etc/passwd",
      `arn:aws:sqs:${HOME}:..`,
    ],
    ...[
      7,
      -1,
      0.5,
      2 ** 53,
      1e308,
      true,
      null,
      [],
      {},
      [7],
      [null],
      { type: "worker" },
      "2026",
      "0".repeat(32),
    ],
    ...[levelsText(900, "["), levelsText(1_100, "{"), levelsText(60_000, "["), levelsText(60_000, "{")],
  ),
);
type Change =
  | { readonly kind: "replace"; readonly at: number; readonly value: unknown }
  | { readonly kind: "remove"; readonly at: number }
  /** Adds another member after that one. */
  | { readonly kind: "add"; readonly at: number; readonly name: string; readonly value: unknown };

const at = fc.nat({ max: 60 });
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("replace" as const), at, value: odd }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("remove" as const), at }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("add" as const),
      at,
      value: odd,
      name: fc.oneof(fc.constantFrom("__proto__", "consumer", "producers", "queueId", "toJSON"), hostileText),
    }),
  },
);
const line = fc.record({
  of: fc.nat({ max: LINES.length - 1 }),
  changes: fc.array(change, { maxLength: 2 }),
});

export const imports: Shape = {
  cases: 30,
  async run(open, { seed, requests }) {
    const statuses: Record<string, number> = {};
    let slowestMs = 0;
    // Each case has a broker of its own: a broken broker would fail every smaller case too.
    const property = fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 12 }), async (lines) => {
      const target = await open();
      const asker = new Asker(target);
      try {
        await openWhole(asker);
        await asker.must(`${API}/backup/queues`, json(orders));
        await asker.must(`${API}/backup/topics`, json(topic));
        for (const { of, changes } of lines) {
          const { path, line } = LINES[of] ?? { path: "", line: null };
          const text = JSON.stringify(changes.reduce(changed, line)) ?? "";
          await asker.ask(`${API}/backup${path}`, json(filledText(text)));
        }
        await checkWhole(asker);
        target.reopen();
        await checkWhole(asker);
      } finally {
        await target.close();
      }
      for (const [status, count] of Object.entries(asker.statuses))
        statuses[status] = (statuses[status] ?? 0) + count;
      slowestMs = Math.max(slowestMs, asker.slowestMs);
    });
    await fc.assert(property, { seed, numRuns: requests });
    return { statuses, slowestMs };
  },
};

function filledText(text: string): string {
  return text.replace(/"<<(\d+)([[{])>>"/g, (_, digits: string, opening: string) => {
    const levels = Number(digits);
    return opening === "["
      ? `${"[".repeat(levels)}${"]".repeat(levels)}`
      : `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
  });
}

/** Changes one member of a line, at any depth. */
function changed(line: unknown, change: Change): unknown {
  const paths = pathsIn(line);
  return changedAt(line, paths[change.at % paths.length] ?? [], change);
}

/** Lists the paths to the value itself and to each of its members. */
function pathsIn(value: unknown): string[][] {
  if (typeof value !== "object" || value === null) return [[]];
  return [[], ...Object.entries(value).flatMap(([key, each]) => pathsIn(each).map((path) => [key, ...path]))];
}

function changedAt(value: unknown, path: readonly string[], change: Change): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return change.kind === "replace" ? change.value : null;
  if (typeof value !== "object" || value === null) return value;
  const isLast = rest.length === 0;
  const entries = Object.entries(value).flatMap(([name, each]): [string, unknown][] => {
    if (name !== key) return [[name, each]];
    if (!isLast || change.kind === "replace") return [[name, changedAt(each, rest, change)]];
    return change.kind === "remove"
      ? []
      : [
          [name, each],
          [change.name, change.value],
        ];
  });
  return Array.isArray(value) ? entries.map(([, each]) => each) : Object.fromEntries(entries);
}
