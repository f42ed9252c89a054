import { endpointQueueName, type QueueDescription, type TopicSubscription } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { DEAD, directoryOf, OPEN, subscriptionOf, TOPIC } from "../../../test/directory.ts";
import { createGateway, type QueueDirectory } from "../../index.ts";
import { ENDPOINTS_ASKED_MAX, SUBSCRIPTIONS_PER_PAGE } from "./topic-routes.ts";

const API = "http://localhost:8787/__sluice/api";
const AT = "2023-11-14T22:13:20.000Z";
const TOKEN = { text: "t", expiresMs: 1_700_000_000_000 };
const ENDED = { kind: "ended", token: TOKEN } as const;

function endpoint(n: number, changes: Partial<TopicSubscription> = {}): TopicSubscription {
  const subscriptionId = `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
  return subscriptionOf({
    subscriptionId,
    protocol: "http",
    endpoint: `http://localhost:3000/hook/${n}`,
    target: endpointQueueName(subscriptionId),
    ...changes,
  });
}

function directoryWith(subscriptions: readonly TopicSubscription[], changes: Partial<QueueDescription> = {}) {
  const directory = directoryOf({ orders: DEAD }, changes, [{ topic: TOPIC, subscriptions }]);
  const described: string[] = [];
  const describe: QueueDirectory["describe"] = (queue) => {
    described.push(queue);
    return directory.describe(queue);
  };
  return { ...directory, describe, described };
}

async function get(directory: QueueDirectory, path: string) {
  const response = await createGateway(directory, OPEN).request(`${API}${path}`);
  return { status: response.status, body: await response.json() };
}

const FAILING = {
  isPresent: true,
  inFlight: 1,
  consecutiveFailures: 2,
  next: null,
  lastDelivery: { endedMs: 1_700_000_000_000, failure: "it answered 500" },
};

describe("GET /topics", () => {
  it("counts subscriptions that have not ended, and sums up what waits for endpoints", async () => {
    const subscriptions = [
      subscriptionOf(),
      endpoint(1),
      endpoint(2, { status: { kind: "pending", token: TOKEN } }),
      endpoint(3, { status: ENDED }),
    ];
    const directory = directoryWith(subscriptions, { consumer: FAILING });
    expect(await get(directory, "/topics")).toEqual({
      status: 200,
      body: {
        topics: [
          {
            arn: TOPIC.arn,
            name: "news",
            kind: "standard",
            createdAt: AT,
            subscriptions: { confirmed: 2, pending: 1 },
            endpoints: { waiting: 12, failing: 2 },
          },
        ],
      },
    });
    expect(directory.described).toEqual([endpoint(1).target, endpoint(2).target]);
  });

  it.each([
    ["an endpoint that is away", { consumer: { ...FAILING, isPresent: false, consecutiveFailures: 0 } }, 1],
    ["an endpoint whose last delivery failed", { consumer: FAILING }, 1],
    ["an endpoint that is well", { consumer: { ...FAILING, consecutiveFailures: 0 } }, 0],
    [
      "an endpoint whose last delivery failed, and for which nothing waits",
      { consumer: FAILING, ready: 0, delayed: 0, leased: 0 },
      0,
    ],
  ])("takes %s into account", async (_what, description, failing) => {
    const { body } = await get(directoryWith([endpoint(1)], description), "/topics");
    expect(body).toMatchObject({ topics: [{ endpoints: { failing } }] });
  });

  it.each([ENDPOINTS_ASKED_MAX - 1, ENDPOINTS_ASKED_MAX, ENDPOINTS_ASKED_MAX + 1])(
    "asks no more than it may: with %i endpoints",
    async (count) => {
      const directory = directoryWith(Array.from({ length: count }, (_, n) => endpoint(n)));
      const { body } = await get(directory, "/topics");
      const isAsked = count <= ENDPOINTS_ASKED_MAX;
      expect(directory.described).toHaveLength(isAsked ? count : 0);
      expect(body).toMatchObject({
        topics: [{ endpoints: isAsked ? { waiting: 6 * count, failing: 0 } : null }],
      });
    },
  );
});

describe("GET /topics/ARN", () => {
  it("shows what was published, and each subscription with the queue that it goes through", async () => {
    const attributes = {
      FilterPolicy: '{"store": ["fans"]}',
      RawMessageDelivery: "true",
      DeliveryPolicy: JSON.stringify({
        healthyRetryPolicy: { numRetries: 7, minDelayTarget: 1, maxDelayTarget: 2 },
        throttlePolicy: { maxReceivesPerSecond: 4 },
      }),
    };
    const url = "https://user:secret@shop.example/hook";
    const hook = endpoint(1, { endpoint: url, protocol: "https", attributes, deadLetterQueue: "dead" });
    const directory = {
      ...directoryWith([subscriptionOf(), hook], { consumer: FAILING }),
      describeTopic: async () => ({
        nowMs: 1_700_000_000_000,
        awakeSinceMs: 1_699_999_990_000,
        published: 9,
        duplicates: 1,
        handOvers: [
          { target: "orders", messages: 3, retryAtMs: 1_700_000_000_000 },
          { target: "mail", messages: 1, retryAtMs: null },
        ],
        damage: [],
      }),
    };
    const common = { status: "confirmed", createdAt: AT };
    const backlog = {
      messages: { ready: 1, delayed: 2, leased: 3 },
      health: { present: true, consecutiveFailures: 2, lastDelivery: { failure: "it answered 500" } },
    };
    expect(await get(directory, `/topics/${TOPIC.arn}`)).toMatchObject({
      status: 200,
      body: {
        arn: TOPIC.arn,
        subscriptions: { confirmed: 2, pending: 0 },
        now: AT,
        awakeSince: "2023-11-14T22:13:10.000Z",
        published: 9,
        duplicates: 1,
        handOvers: [
          { queue: "orders", messages: 3, nextAttemptAt: AT },
          { queue: "mail", messages: 1, nextAttemptAt: null },
        ],
        subscriptionList: [
          {
            ...common,
            protocol: "sqs",
            endpoint: "arn:aws:sqs:us-east-1:000000000000:orders",
            rawDelivery: false,
            filterPolicy: null,
            deadLetterQueue: null,
            delivery: null,
            queue: "orders",
            backlog,
          },
          {
            ...common,
            protocol: "https",
            endpoint: "https://user:****@shop.example/hook",
            rawDelivery: true,
            filterPolicy: { scope: "MessageAttributes", policy: '{"store": ["fans"]}', fault: null },
            deadLetterQueue: "dead",
            delivery: { maxRetries: 7, maxReceivesPerSecond: 4 },
            queue: null,
            backlog,
          },
        ],
        page: 1,
        pages: 1,
      },
    });
  });

  it("says what is wrong with a filter policy that cannot be evaluated", async () => {
    const FilterPolicy = JSON.stringify({ ["a.".repeat(2_000)]: ["x"] });
    const directory = directoryWith([subscriptionOf({ attributes: { FilterPolicy } })]);
    const fault = "FilterPolicy: Filter policy is too complex: 150 levels at most";
    expect(await get(directory, `/topics/${TOPIC.arn}`)).toMatchObject({
      body: { subscriptionList: [{ filterPolicy: { policy: FilterPolicy, fault } }] },
    });
  });

  it("asks no queue that does not exist", async () => {
    const directory = directoryWith([subscriptionOf({ target: "gone" })]);
    expect(await get(directory, `/topics/${TOPIC.arn}`)).toMatchObject({
      body: { subscriptionList: [{ queue: "gone", backlog: null }] },
    });
    expect(directory.described).toEqual([]);
  });

  it("leaves out subscriptions that have ended", async () => {
    const directory = directoryWith([endpoint(1, { status: ENDED })]);
    expect(await get(directory, `/topics/${TOPIC.arn}`)).toMatchObject({
      body: { subscriptions: { confirmed: 0, pending: 0 }, subscriptionList: [] },
    });
  });

  it.each([
    [SUBSCRIPTIONS_PER_PAGE - 1, 1, SUBSCRIPTIONS_PER_PAGE - 1, 1],
    [SUBSCRIPTIONS_PER_PAGE, 1, SUBSCRIPTIONS_PER_PAGE, 1],
    [SUBSCRIPTIONS_PER_PAGE + 1, 1, SUBSCRIPTIONS_PER_PAGE, 2],
    [SUBSCRIPTIONS_PER_PAGE + 1, 2, 1, 2],
    [SUBSCRIPTIONS_PER_PAGE + 1, 3, 0, 2],
  ])(
    "GET /topics/ARN of %i subscriptions, page %i has %i and there are %i pages",
    async (count, page, shown, pages) => {
      const directory = directoryWith(Array.from({ length: count }, (_, n) => endpoint(n)));
      const { body } = await get(directory, `/topics/${TOPIC.arn}?page=${page}`);
      expect(body).toMatchObject({ page, pages, subscriptions: { confirmed: count } });
      expect((body as { subscriptionList: unknown[] }).subscriptionList).toHaveLength(shown);
      expect(directory.described).toHaveLength(shown);
    },
  );

  it.each(["0", "x", "-1", ""])("answers 400 to ?page=%s", async (page) => {
    expect(await get(directoryWith([]), `/topics/${TOPIC.arn}?page=${page}`)).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_query" } },
    });
  });

  it("answers 404 for a topic that does not exist", async () => {
    expect(await get(directoryWith([]), "/topics/arn:aws:sns:us-east-1:000000000000:nothing")).toMatchObject({
      status: 404,
      body: { error: { code: "topic_not_found" } },
    });
  });
});
