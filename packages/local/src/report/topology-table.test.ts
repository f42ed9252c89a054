import type { ConsumerSettings, HttpPushSettings, QueueDefinition } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { topologyTable } from "./topology-table.ts";

const SETTINGS: ConsumerSettings = {
  maxBatchSize: 10,
  maxBatchTimeoutSeconds: 5,
  maxRetries: 3,
  maxConcurrency: null,
  retryDelaySeconds: 0,
  deadLetterQueue: null,
};

function queue(rest: Partial<QueueDefinition>): QueueDefinition {
  return {
    deliveryDelaySeconds: 0,
    messageRetentionSeconds: 345_600,
    producers: [],
    consumer: null,
    ...rest,
  };
}

describe("topologyTable", () => {
  it("shows who sends to each queue, who receives from it and how", () => {
    const settings = { ...SETTINGS, maxBatchSize: 100, retryDelaySeconds: 30, deadLetterQueue: "dead" };
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
    const orders = queue({ consumer: { type: "worker", worker: "mail", settings: SETTINGS } });
    expect(topologyTable({ queues: { orders } }, ["mail"])).toContain(
      "orders  -          mail (elsewhere)  10 or 5 s",
    );
  });

  it("names the retry policy that decides the delay of retries", () => {
    const retryPolicy = { kind: "exponential", base: 2, maxSeconds: 60, jitter: "none" } as const;
    const settings = { ...SETTINGS, retryDelaySeconds: 30, retryPolicy };
    const orders = queue({ consumer: { type: "worker", worker: "mail", settings } });
    expect(topologyTable({ queues: { orders } }, [])).toContain(`${SETTINGS.maxRetries}, exponential`);
  });

  it("shows a redrive policy in the place of what the consumer says, or of nobody's", () => {
    const receive = { redrive: { deadLetterQueue: "dead", maxReceiveCount: 5 } };
    const consumer = { type: "worker", worker: "mail", settings: SETTINGS } as const;
    expect(topologyTable({ queues: { a: queue({ receive }), b: queue({ receive, consumer }) } }, [])).toBe(
      [
        "queue  producers  consumer  batch      retries     dead letters",
        "a      -          -         -          5 receives  dead",
        "b      -          mail      10 or 5 s  5 receives  dead",
      ].join("\n"),
    );
  });

  it("shows the endpoint that a queue is pushed to, without its query, which may hold a key", () => {
    const settings: HttpPushSettings = {
      url: "https://shop.example/tasks?key=secret",
      format: "sluice",
      contentType: null,
      maxConcurrency: 50,
      connectTimeoutSeconds: 5,
      responseTimeoutSeconds: 60,
      readinessPath: null,
      maxRetries: 3,
      retryDelaySeconds: 0,
      deadLetterQueue: "dead",
    };
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
