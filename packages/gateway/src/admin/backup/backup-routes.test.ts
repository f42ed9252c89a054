import { endpoint } from "@sluice/broker/testing/messages";
import { type EnqueueRequest, PackedIndex } from "@sluice/protocol";
import { describe, expect, it, vi } from "vitest";
import { directoryOf, OPEN, queueWith, subscriptionOf, TOPIC } from "../../../test/directory.ts";
import { createGateway, type QueueDirectory } from "../../index.ts";

const API = "http://localhost:8787/__sluice/api/backup";

async function ask(directory: QueueDirectory, path: string, body?: unknown) {
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await createGateway(directory, OPEN).request(`${API}${path}`, init);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

it("GET /backup has dead-letter queues first, is read the other way round, and keeps passwords to itself", async () => {
  const subscription = subscriptionOf({
    protocol: "https",
    endpoint: "https://me:hush@example.com/",
    target: "subscription/1",
  });
  const topics = [{ topic: TOPIC, subscriptions: [subscription] }];
  const { body } = await ask(directoryOf(undefined, {}, topics), "");
  expect(body).toMatchObject({
    queues: [{ name: "dead" }, { name: "orders", settings: { deliveryDelaySeconds: 5 } }],
    topics: [{ arn: TOPIC.arn }],
    topicSubscriptions: [{ endpoint: "https://example.com/", lacksPassword: true, isConfirmed: true }],
    holders: ["subscription/1", "orders", "dead"],
    redrives: [],
  });
  expect(JSON.stringify(body)).not.toMatch(/hush|token/i);
});

const message = {
  id: "0".repeat(32),
  sentAt: "2026-11-23T00:00:00.000Z",
  attempts: 2,
  contentType: "text",
  text: "x",
  delaySeconds: 9,
  from: "orders",
};

describe("POST /backup", () => {
  it("stores messages under their ids, with attempts, delay and the time of their send", async () => {
    const enqueued: EnqueueRequest[] = [];
    const work = vi.fn(async (_: string, { enqueue }: { enqueue?: EnqueueRequest }) => {
      if (enqueue !== undefined) enqueued.push(enqueue);
      return { ok: true, enqueued: { ok: true, messages: null } } as const;
    });
    const directory = { ...directoryOf(), queue: () => queueWith({ work }) };
    const response = await ask(directory, "/messages?queue=dead", { messages: [message] });
    expect(response).toEqual({ status: 200, body: { restored: 1 } });
    const [{ packed, attempts } = { packed: new Uint8Array() }] = enqueued;
    expect(attempts).toEqual([2]);
    const index = new PackedIndex(packed);
    expect(index.message(0)).toMatchObject({
      id: message.id,
      delaySeconds: 9,
      timestampMs: Date.parse(message.sentAt),
    });
    expect(index.extension(0)).toEqual({ deadLetterOf: "orders" });
  });

  it.each([
    [{ id: "x" }, /id/],
    [{ sentAt: "yesterday" }, /sentAt: must be a time from 1970 on/],
    [{ sentAt: "1900-01-01T00:00:00.000Z" }, /sentAt: must be a time from 1970 on/],
    [{ attempts: -1 }, /attempts/],
    [{ text: undefined }, /text, or base64/],
    [{ text: "a\ud800" }, /text: must be well-formed Unicode/],
    [{ group: "\udc00" }, /group: must be well-formed Unicode/],
    [{ attributes: { n: { type: "String", value: "\ud800" } } }, /value: must be well-formed Unicode/],
    [{ attributes: { n: { type: "Number", value: "NaN" } } }, /attributes\.n: must be a number/],
    [{ attributes: { n: { type: "Number.float", value: "" } } }, /attributes\.n: must be a number/],
    [{ from: "subscription/../../x" }, /from: must be a queue's name/],
    [{ from: "subscription/1" }, /from: must be a queue's name/],
  ])("refuses a message with %j, and says which it is", async (wrong, problem) => {
    const from = "subscription/01234567-89ab-4cde-8f01-23456789abcd";
    const messages = [
      { ...message, from },
      { ...message, ...wrong },
    ];
    const { status, body } = await ask(directoryOf(), "/messages?queue=dead", { messages });
    expect({ status, body }).toMatchObject({ status: 400, body: { error: { index: 1 } } });
    expect(JSON.stringify(body)).toMatch(problem);
  });

  const queue = {
    name: "new",
    settings: { deliveryDelaySeconds: 0, messageRetentionSeconds: 60 },
    consumer: null,
    jurisdiction: null,
    dialects: {},
  };

  const pushing = (changes: object) => endpoint({ maxConcurrency: 1, ...changes });
  const DAEMON = { visibilityTimeoutSeconds: 300, errorVisibilityTimeoutSeconds: null, retentionSeconds: 60 };
  const TASK = { name: "nightly", url: "/tasks", schedule: "every night" };
  const SNS_POLICY = {
    kind: "sns",
    minDelayTarget: 1,
    maxDelayTarget: 2,
    numRetries: 3,
    numMaxDelayRetries: 0,
    numNoDelayRetries: 0,
    numMinDelayRetries: 0,
    backoffFunction: "linear",
    jitter: "equal",
  };
  const subscribing = (changes: object) => ({
    topicArn: TOPIC.arn,
    protocol: "sqs",
    endpoint: "arn:aws:sqs:us-east-1:000000000000:orders",
    target: "orders",
    deadLetterQueue: null,
    attributes: {},
    ...changes,
  });
  const events = {
    name: "r2",
    enabled: true,
    source: { type: "r2" },
    queue: "orders",
    events: ["bucket.created"],
  };

  it.each([
    ["/queues", { ...queue, settings: { ...queue.settings, messageRetentionSeconds: 59 } }, /Retention/],
    ["/queues", { ...queue, consumer: { type: "ftp", settings: {} } }, /consumer/],
    ["/topics", { arn: "arn:aws:sqs:us-east-1:0:x", isFifo: false, attributes: {}, tags: {} }, /TopicArn/],
    ["/queues", { ...queue, settings: { ...queue.settings, consumer: 7 } }, /settings: .*consumer/],
    ["/queues", { ...queue, name: "../../x" }, /name: must be a queue's name/],
    ["/queues", { ...queue, name: "new.fifo" }, /settings\.fifo: must be there/],
    [
      "/queues",
      {
        ...queue,
        settings: { ...queue.settings, receive: { redrive: { deadLetterQueue: "new", maxReceiveCount: 1 } } },
      },
      /settings\.receive\.redrive\.deadLetterQueue: must be another queue/,
    ],
    ["/queues", { ...queue, dialects: { smtp: {} } }, /dialects\.smtp/],
    ["/queues", { ...queue, dialects: { sqs: { attributes: { Policy: "{" } } } }, /Policy/],
    ["/queues", { ...queue, dialects: { sqs: 7 } }, /Attributes and tags/],
    ["/queues", { ...queue, consumer: pushing({ format: "sns" }) }, /consumer\.settings\.format/],
    ["/queues", { ...queue, consumer: pushing({ daemon: DAEMON }) }, /consumer\.settings\.daemon/],
    [
      "/queues",
      { ...queue, consumer: pushing({ headers: { Host: "evil.example" } }) },
      /consumer\.settings\.headers\.Host: is a header that the broker/,
    ],
    [
      "/queues",
      { ...queue, consumer: pushing({ format: "sqsd", daemon: { ...DAEMON, periodicTasks: [TASK] } }) },
      /periodicTasks\.0\.schedule: is no schedule/,
    ],
    [
      "/queues",
      { ...queue, consumer: pushing({ retryPolicy: { ...SNS_POLICY, minDelayTarget: 9 } }) },
      /retryPolicy: maxDelayTarget/,
    ],
    ["/topics", { arn: `${TOPIC.arn}\n`, isFifo: false, attributes: {}, tags: {} }, /Topic Name/],
    ["/topics", { arn: `${TOPIC.arn}.fifo`, isFifo: false, attributes: {}, tags: {} }, /Topic Name/],
    ["/topics", { arn: `${TOPIC.arn}2`, isFifo: false, attributes: { Odd: "x" }, tags: {} }, /AttributeName/],
    ["/topics", { arn: `${TOPIC.arn}2`, isFifo: false, attributes: {}, tags: { "aws:x": "" } }, /aws:/],
    ["/topic-subscriptions", { isConfirmed: false }, /topicArn/],
    [
      "/topic-subscriptions",
      subscribing({ attributes: { FilterPolicy: "7" } }),
      /FilterPolicy|filter policy/i,
    ],
    ["/topic-subscriptions", subscribing({ attributes: { RedrivePolicy: "{" } }), /RedrivePolicy/],
    ["/topic-subscriptions", subscribing({ deadLetterQueue: "dead" }), /SLUICE_AWS_REGION/],
    ["/topic-subscriptions", subscribing({ target: "dead" }), /SLUICE_AWS_REGION/],
    ["/topic-subscriptions", subscribing({ protocol: "http", endpoint: "ftp://x" }), /Endpoint/],
    ["/subscriptions", { ...events, source: { type: "ftp" } }, /source: Unknown event source/],
    ["/subscriptions", { ...events, source: { type: "artifacts.repo" } }, /source: .* needs a .*namespace/],
    ["/subscriptions", { ...events, events: ["bucket.moved"] }, /events: Unrecognized/],
    ["/subscriptions", null, /not as a backup has it/],
  ])("%s refuses what no backup has: %j", async (path, body, problem) => {
    const topics = [{ topic: TOPIC, subscriptions: [] }];
    const response = await ask(directoryOf(undefined, {}, topics), path, body);
    expect(response).toMatchObject({ status: 400, body: { error: { code: "invalid_body" } } });
    expect(JSON.stringify(response.body)).toMatch(problem);
  });

  it("is 404 for a queue that is not there", async () => {
    const response = await ask(directoryOf(), "/messages?queue=gone", { messages: [message] });
    expect(response).toMatchObject({ status: 404, body: { error: { code: "queue_not_found" } } });
  });
});
