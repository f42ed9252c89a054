import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type HttpEndpoint, startEndpoint } from "@sluice/broker/testing/http-endpoint";
import { endpoint as endpointConsumer } from "@sluice/broker/testing/messages";
import { type OpenBroker, openBroker } from "@sluice/broker-worker/open-broker";
import type { ConsumerDefinition, HttpPushSettings, QueueTopology } from "@sluice/protocol";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

/*
 * Rights of a backup that another author has written: it comes from an administrator, with a token that expires, and
 * must not reach secrets that do not.
 */

const SECRETS = {
  SLUICE_API_TOKENS: "first-admin",
  SLUICE_AWS_ACCESS_KEYS: "AKIA:hush",
  SHOP_KEY: "shop-secret",
};
const AUTHORIZATION = { authorization: "Bearer first-admin" };
const TOPIC = "arn:aws:sns:us-east-1:000000000000:news";

const lines: string[] = [];
let folder: string;
let endpoint: HttpEndpoint;
let broker: OpenBroker;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-restore-"));
  endpoint = await startEndpoint();
  lines.length = 0;
  for (const level of ["log", "warn", "error"] as const) {
    vi.spyOn(console, level).mockImplementation((text) => void lines.push(`${level}: ${text}`));
  }
  start();
});

afterEach(async () => {
  broker.close();
  await endpoint.close();
  rmSync(folder, { recursive: true });
  vi.restoreAllMocks();
});

function pushConsumer(settings: Partial<HttpPushSettings> = {}): ConsumerDefinition {
  return endpointConsumer({
    url: `http://127.0.0.1:${endpoint.port}/collect`,
    maxConcurrency: 1,
    ...settings,
  });
}

function start(topology: QueueTopology = { queues: {} }): void {
  const vars = { ...SECRETS, SLUICE_PUSH_HOSTS: "127.0.0.1" };
  broker = openBroker({ folder, worker: "broker", topology, vars });
}

async function call(path: string, body?: object): Promise<{ status: number; body: Record<string, unknown> }> {
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const url = `http://localhost/__sluice/api${path}`;
  const response = await broker.gateway.request(url, { ...init, headers: AUTHORIZATION });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const settings = { deliveryDelaySeconds: 0, messageRetentionSeconds: 345_600 };
const queueOf = (name: string, consumer: ConsumerDefinition | null) => ({
  name,
  settings,
  consumer,
  jurisdiction: null,
  dialects: {},
});
const message = (text: string) => ({
  id: "0".repeat(32),
  sentAt: new Date().toISOString(),
  attempts: 0,
  delaySeconds: 0,
  contentType: "text",
  text,
});
const restoreMessage = (queue: string, text: string) =>
  call(`/backup/messages?queue=${encodeURIComponent(queue)}`, { messages: [message(text)] });

describe("an HTTP endpoint that a backup brings", () => {
  it("gets none of the broker's variables, with the reason in answer and log", async () => {
    const headers = { "X-A": "$SLUICE_API_TOKENS", "X-B": "$SLUICE_AWS_ACCESS_KEYS", "X-C": "$SHOP_KEY" };
    const restored = await call("/backup/queues", queueOf("nightly", pushConsumer({ headers })));
    expect(restored).toEqual({
      status: 200,
      body: {
        outcome: "created",
        variableRefusals: [
          "the variable SLUICE_API_TOKENS is the broker's own, and is never sent",
          "the variable SLUICE_AWS_ACCESS_KEYS is the broker's own, and is never sent",
          "no configuration names the environment variable SHOP_KEY for an endpoint there",
        ],
      },
    });
    await restoreMessage("nightly", "take this");
    await vi.waitFor(() =>
      expect(lines.join("\n")).toContain(
        "cannot be called: the variable SLUICE_API_TOKENS is the broker's own",
      ),
    );
    expect(endpoint.posts).toEqual([]);
    const { body } = await call("/queues/nightly");
    expect(body).toMatchObject({ messages: { ready: 1 } });
  });

  it("gets the variables that the deployed configuration names for its origin", async () => {
    broker.close();
    const headers = { "X-C": "$SHOP_KEY" };
    const shop = { ...settings, producers: [], consumer: pushConsumer({ headers }) };
    start({ queues: { shop } });
    const restored = await call("/backup/queues", queueOf("nightly", pushConsumer({ headers })));
    expect(restored.body).toEqual({ outcome: "created" });
    await restoreMessage("nightly", "take this");
    await endpoint.until(() => endpoint.posts.length === 1);
    expect(endpoint.posts).toMatchObject([{ headers: { "x-c": "shop-secret" } }]);
  });
});

it("a queue whose dead letters would go to itself is not created without its consumer", async () => {
  const settings = { maxBatchSize: 5, visibilityTimeoutMs: 0, maxRetries: 3, retryDelaySeconds: 0 };
  const pull = (deadLetterQueue: string): ConsumerDefinition => ({
    type: "http_pull",
    settings: { ...settings, deadLetterQueue },
  });
  expect(await call("/backup/queues", queueOf("selfq", pull("selfq")))).toMatchObject({
    status: 409,
    body: { error: { message: expect.stringContaining("would go in a circle") } },
  });
  expect(await call("/queues/selfq")).toMatchObject({ status: 404 });
  expect(await call("/backup/queues", queueOf("selfq", pull("dead")))).toMatchObject({
    body: { outcome: "created" },
  });
  expect(await call("/queues/selfq")).toMatchObject({ body: { consumer: { type: "http_pull" } } });
});

it("a message without a group, as a Worker sends it, is restored to a FIFO queue", async () => {
  const fifo = { ...queueOf("line.fifo", null), settings: { ...settings, fifo: {} } };
  expect(await call("/backup/queues", fifo)).toMatchObject({ body: { outcome: "created" } });
  expect(await restoreMessage("line.fifo", "from a Worker")).toMatchObject({ status: 200 });
  const { body } = await call("/backup/messages?queue=line.fifo");
  expect(body.messages).toMatchObject([{ text: "from a Worker" }]);
});

describe("a subscription that a backup calls confirmed", () => {
  const subscription = () => ({
    arn: `${TOPIC}:1`,
    topicArn: TOPIC,
    protocol: "http",
    lacksPassword: false,
    attributes: {},
    endpoint: `http://127.0.0.1:${endpoint.port}/hook`,
    target: "subscription/1",
    deadLetterQueue: null,
    isConfirmed: true,
    wasAuthenticated: true,
    authenticateOnUnsubscribe: false,
  });

  it("is asked to confirm, and gets nothing before that", async () => {
    await call("/backup/topics", { arn: TOPIC, isFifo: false, attributes: {}, tags: {} });
    const restored = await call("/backup/topic-subscriptions", subscription());
    expect(restored).toEqual({ status: 200, body: { outcome: "created", target: null } });
    await endpoint.until(() => endpoint.posts.length === 1);
    const asked = JSON.parse(endpoint.posts[0]?.body ?? "") as Record<string, string>;
    expect(asked).toMatchObject({ Type: "SubscriptionConfirmation", TopicArn: TOPIC });
    const { body } = await call("/backup");
    const [{ target }] = body.topicSubscriptions as [{ target: string }];
    expect(body).toMatchObject({ topicSubscriptions: [{ isConfirmed: false }] });
    expect(await restoreMessage(target, "secret")).toMatchObject({
      status: 409,
      body: { error: { code: "not_confirmed" } },
    });
    // After the confirmation it gets the waiting messages.
    const answer = await broker.gateway.request(asked.SubscribeURL ?? "");
    expect(answer.status).toBe(200);
    expect(await call("/backup/topic-subscriptions", subscription())).toEqual({
      status: 200,
      body: { outcome: "existed", target },
    });
    expect(await restoreMessage(target, "waited")).toMatchObject({ status: 200 });
    await endpoint.until(() => endpoint.posts.length === 2);
  });

  it("is restored with its policies", async () => {
    await call("/backup/topics", { arn: TOPIC, isFifo: false, attributes: {}, tags: { team: "a" } });
    const deadLetterTargetArn = "arn:aws:sqs:us-east-1:000000000000:dead";
    const attributes = {
      DeliveryPolicy: '{"healthyRetryPolicy":{"minDelayTarget":1,"maxDelayTarget":2,"numRetries":3}}',
      FilterPolicy: '{"kind":["x"]}',
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn }),
    };
    const given = { ...subscription(), attributes, deadLetterQueue: "dead" };
    expect(await call("/backup/topic-subscriptions", given)).toMatchObject({ status: 200 });
    const { body: before } = await call("/backup");
    broker.close();
    rmSync(folder, { recursive: true });
    start();
    for (const topic of before.topics as object[]) {
      expect(await call("/backup/topics", topic)).toEqual({ status: 200, body: { outcome: "created" } });
    }
    for (const one of before.topicSubscriptions as object[]) {
      expect(await call("/backup/topic-subscriptions", one)).toMatchObject({ body: { outcome: "created" } });
    }
    const { body: after } = await call("/backup");
    expect(after.topics).toEqual(before.topics);
    const [one] = before.topicSubscriptions as object[];
    const { arn: _, target: __, ...rest } = one as { arn: string; target: string };
    expect(after.topicSubscriptions).toMatchObject([rest]);
    expect(after.topicSubscriptions).toMatchObject([{ attributes: { FilterPolicy: '{"kind":["x"]}' } }]);
  });
});
