import { definition } from "@sluice/broker/testing/messages";
import { beforeAll, describe, expect, it } from "vitest";
import { startSharedBroker } from "./any-broker.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

describe("a broker on workerd whose time is behind at its start", () => {
  let origin: string;

  beforeAll(async () => {
    const vars = { SLUICE_SERVED: "true", SLUICE_ENV: "local", SLUICE_CLOCK_BEHIND_MS: `${DAY_MS}` };
    const broker = await startSharedBroker(vars, { queues: { orders: definition() } });
    origin = broker.origin;
    return broker.dispose;
  });

  const api = (path: string, body?: object) =>
    fetch(`${origin}/__sluice/api/${path}`, {
      ...(body && { method: "POST", body: JSON.stringify(body) }),
      headers: { "content-type": "application/json" },
    });
  const sqs = async (action: string, input: object) => {
    const response = await fetch(`${origin}/__sluice/aws`, {
      method: "POST",
      headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` },
      body: JSON.stringify({ QueueUrl: `${origin}/000000000000/orders`, ...input }),
    });
    return (await response.json()) as { Messages?: { Body: string; Attributes: Record<string, string> }[] };
  };
  const sentMs = async () => {
    const { Messages = [] } = await sqs("ReceiveMessage", {
      AttributeNames: ["SentTimestamp"],
      VisibilityTimeout: 0,
      WaitTimeSeconds: 20,
    });
    return Number(Messages[0]?.Attributes.SentTimestamp);
  };

  it("uses that time, and delays end on time", async () => {
    await sqs("SendMessage", { MessageBody: "late", DelaySeconds: 2 });
    const at = await sentMs();
    expect(Math.abs(Date.now() - DAY_MS - at)).toBeLessThan(60_000);
    await sqs("PurgeQueue", {});
  });

  it("has queues do what is due when the clock was set", async () => {
    await sqs("SendMessage", { MessageBody: "in a quarter of an hour", DelaySeconds: 900 });
    const receiving = sentMs();
    // Reports a system's clock that was set back by an hour, which a test cannot do itself.
    expect((await api("system-clock", { behindMs: DAY_MS - HOUR_MS })).status).toBe(200);
    expect(Math.abs(Date.now() - DAY_MS - (await receiving))).toBeLessThan(60_000);
  });
});
