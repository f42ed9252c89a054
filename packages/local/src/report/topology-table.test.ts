import { CONSUMER_SETTINGS, PUSH_SETTINGS, QUEUE } from "@sluice/project/test/definitions";
import type { QueueDefinition } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { receiver, retriesBy, topologyTable } from "./topology-table.ts";

function queue(rest: Partial<QueueDefinition>): QueueDefinition {
  return { ...QUEUE, ...rest };
}

describe("topologyTable", () => {
  it("names the R2 buckets that send to a queue, once each", () => {
    const rule = { actions: ["PutObject"], prefix: "", suffix: "" } as const;
    const r2Notifications = [
      { bucket: "uploads", queue: "jobs", ...rule },
      { bucket: "uploads", queue: "jobs", ...rule, suffix: ".png" },
      { bucket: "logs", queue: "other", ...rule },
    ];
    const jobs = queue({ producers: [{ worker: "api", binding: "JOBS" }] });
    expect(topologyTable({ queues: { jobs, other: queue({}) }, r2Notifications }, [])).toMatch(
      /jobs +api \(JOBS\), R2 bucket uploads +-.*\nother +R2 bucket logs +-/,
    );
  });

  it("shows who sends to each queue, who receives from it and how", () => {
    const settings = {
      ...CONSUMER_SETTINGS,
      maxBatchSize: 100,
      retryDelaySeconds: 30,
      deadLetterQueue: "dead",
    };
    const table = topologyTable(
      {
        queues: {
          dead: queue({}),
          orders: queue({
            producers: [
              { worker: "api", binding: "ORDERS" },
              { worker: "cron", binding: "Q" },
            ],
            consumer: { type: "worker", worker: "mail", settings },
          }),
        },
      },
      [],
    );
    expect(table).toBe(
      [
        "queue   producers               consumer  batch       retries        dead letters",
        "dead    -                       -         -           -              -",
        "orders  api (ORDERS), cron (Q)  mail      100 or 5 s  3, after 30 s  dead",
      ].join("\n"),
    );
  });

  it("marks a consumer that another process runs", () => {
    const orders = queue({ consumer: { type: "worker", worker: "mail", settings: CONSUMER_SETTINGS } });
    expect(topologyTable({ queues: { orders } }, ["mail"])).toContain(
      "orders  -          mail (elsewhere)  10 or 5 s",
    );
  });

  it("names the retry policy that decides the delay of retries", () => {
    const retryPolicy = { kind: "exponential", base: 2, maxSeconds: 60, jitter: "none" } as const;
    const settings = { ...CONSUMER_SETTINGS, retryDelaySeconds: 30, retryPolicy };
    const orders = queue({ consumer: { type: "worker", worker: "mail", settings } });
    expect(topologyTable({ queues: { orders } }, [])).toContain(
      `${CONSUMER_SETTINGS.maxRetries}, exponential`,
    );
  });

  it("shows a redrive policy in the place of what the consumer says, or of nobody's", () => {
    const receive = { redrive: { deadLetterQueue: "dead", maxReceiveCount: 5 } };
    const consumer = { type: "worker", worker: "mail", settings: CONSUMER_SETTINGS } as const;
    expect(topologyTable({ queues: { a: queue({ receive }), b: queue({ receive, consumer }) } }, [])).toBe(
      [
        "queue  producers  consumer  batch      retries     dead letters",
        "a      -          -         -          5 receives  dead",
        "b      -          mail      10 or 5 s  5 receives  dead",
      ].join("\n"),
    );
  });

  it("counts one receive in the singular", () => {
    expect(retriesBy({ deadLetterQueue: "dead", maxReceiveCount: 1 }, null)).toBe("1 receive");
  });

  it("shows the endpoint that a queue is pushed to, without its query, which may hold a key", () => {
    const url = "https://shop.example/tasks?key=secret";
    const settings = { ...PUSH_SETTINGS, url, deadLetterQueue: "dead" };
    const table = topologyTable(
      { queues: { orders: queue({ consumer: { type: "http_push", settings } }) } },
      [],
    );
    expect(table.split("\n")[1]).toBe("orders  -          https://shop.example/tasks  -      3        dead");
    const daemon = { ...settings, format: "sqsd", deadLetterQueue: null } as const;
    const jobs = queue({ consumer: { type: "http_push", settings: daemon } });
    expect(topologyTable({ queues: { jobs } }, [])).toMatch(/ until expired +-$/);
  });

  it("says so when there is no queue", () => {
    expect(topologyTable({ queues: {} }, [])).toBe("No queues.");
  });
});

it("a consumer that notifies is called by whom it notifies", () => {
  const settings = { email: ["ann@shop.example"], pagerduty: ["p1"], webhooks: ["w1", "w2"] };
  const fixed = { maxRetries: 100, retryDelaySeconds: 10, maxConcurrency: null, deadLetterQueue: null };
  expect(receiver({ type: "notification", settings: { ...settings, ...fixed } })).toBe(
    "email ann@shop.example, PagerDuty p1, webhook w1, webhook w2",
  );
});
