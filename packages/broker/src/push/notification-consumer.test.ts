import { type ContentType, type Delivery, LOG_LINE_UNITS_MAX, packMessages } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { NotificationConsumer } from "./notification-consumer.ts";

const consumer = new NotificationConsumer({
  email: ["ann@shop.example"],
  pagerduty: ["p1"],
  webhooks: ["w1"],
  maxRetries: 100,
  retryDelaySeconds: 10,
  maxConcurrency: null,
  deadLetterQueue: null,
});

/** Delivers a message with this body. */
function delivery(contentType: ContentType, body: string, logs = true): Delivery {
  const message = { id: "a".repeat(32), contentType, body: new TextEncoder().encode(body) };
  const metrics = { backlogCount: 1, backlogBytes: 1, oldestMessageTimestampMs: 0 };
  return { id: "1", queue: "alerts", packed: packMessages([message]), attempts: 1, metrics, logs };
}

async function shown(contentType: ContentType, body: string): Promise<string | undefined> {
  return (await consumer.deliver(delivery(contentType, body))).logs?.lines[0]?.text;
}

describe("a notification", () => {
  const to = "Notification to email ann@shop.example, PagerDuty p1, webhook w1: ";

  it("names whom it goes to, and has the message's body as it was written", async () => {
    expect(await shown("text", "disk full")).toBe(`${to}disk full`);
    expect(await shown("json", '{ "disk" :  "full" }')).toBe(`${to}{ "disk" :  "full" }`);
  });

  it.each(["bytes", "v8"] as const)("has a notice in the place of a body of %s", async (contentType) => {
    expect(await shown(contentType, "x")).toBe(`${to}(binary data, which a notification does not show)`);
  });

  it("is as long as a line that is kept may be", async () => {
    for (const more of [-1, 0, 1]) {
      const body = "x".repeat(LOG_LINE_UNITS_MAX - to.length + more);
      expect((await shown("text", body))?.length).toBe(
        Math.min(LOG_LINE_UNITS_MAX, LOG_LINE_UNITS_MAX + more),
      );
    }
  });

  it("is acknowledged, and not printed where nobody keeps what is", async () => {
    const result = await consumer.deliver(delivery("text", "x", false));
    expect([result.outcome, result.retryMessages, result.logs]).toEqual(["ok", [], undefined]);
  });
});
