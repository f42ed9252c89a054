import {
  CONFIRMATION_TOKEN_MS,
  FIFO_TOPIC_SUBSCRIPTIONS_MAX,
  type NewTopicSubscription,
  PENDING_SUBSCRIPTION_MS,
  type SnsSettings,
  TOPIC_FILTER_POLICIES_MAX,
  TOPIC_SUBSCRIPTIONS_MAX,
  type TopicReply,
  type TopicSubscriptionReply,
} from "@sluice/protocol";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { nodeSql } from "../../../test/node-sql.ts";
import { TestRegistry } from "../../../test/registry.ts";
import { undeliverableTo } from "./topic-registry.ts";
import { TopicRows } from "./topic-rows.ts";
import {
  changeSubscription,
  confirm,
  isSweepDue,
  renewToken,
  subscribe,
  sweep,
  unsubscribe,
} from "./topic-subscriptions.ts";
import { TopicVersions } from "./topic-versions.ts";
import { Topics } from "./topics.ts";

const ARN = "arn:aws:sns:us-east-1:000000000000:news";
const HOOK = "http://localhost:9/hook";

let sql: SqlStorage;
let queues: TestRegistry;
let topics: Topics;
let nowMs: number;
let settings: SnsSettings;
let warnings: string[];

/** As after a restart: what is stored is all there is. */
function restarted(): Topics {
  return new Topics(new TopicRows(sql), new TopicVersions(sql, () => nowMs), {
    queues,
    settings,
    now: () => nowMs,
    newId: () => crypto.randomUUID().replaceAll("-", ""),
    warn: (line) => warnings.push(line),
  });
}

beforeEach(() => {
  sql = nodeSql();
  queues = new TestRegistry();
  nowMs = 1_700_000_000_000;
  warnings = [];
  settings = {};
  topics = restarted();
});

function topicIn(reply: TopicReply) {
  if (!reply.ok) throw new Error(`refused: ${JSON.stringify(reply.refusal)}`);
  return reply.topic;
}

function subscriptionIn(reply: TopicSubscriptionReply) {
  if (!reply.ok) throw new Error(`refused: ${JSON.stringify(reply.refusal)}`);
  return reply.subscription;
}

function refusalIn(reply: TopicReply | TopicSubscriptionReply) {
  return reply.ok ? "not refused" : reply.refusal.kind;
}

const create = (changes: object = {}) =>
  topicIn(topics.create({ arn: ARN, isFifo: false, attributes: {}, tags: {}, ...changes }));

const toQueue = (target: string, changes: Partial<NewTopicSubscription> = {}): NewTopicSubscription => ({
  topicArn: ARN,
  protocol: "sqs",
  endpoint: `arn:aws:sqs:us-east-1:000000000000:${target}`,
  target,
  deadLetterQueue: null,
  token: null,
  attributes: {},
  ...changes,
});

const toUrl = (token: string, changes: Partial<NewTopicSubscription> = {}): NewTopicSubscription => ({
  ...toQueue("unused"),
  protocol: "http",
  endpoint: HOOK,
  target: null,
  token,
  ...changes,
});

const confirmation = (token: string) => ({
  token,
  region: "us-east-1",
  isAuthenticated: false,
  authenticateOnUnsubscribe: true,
});
const endpointQueue = () => queues.hidden()[0];

describe("the version of a topic", () => {
  const versionOf = () => topics.registry.snapshot(ARN)?.version ?? 0;
  const objectOf = () => `topic/${topics.registry.topic(ARN)?.topicId}`;

  it("grows with every change of what a subscriber gets, of which its object is notified", () => {
    create();
    // No publisher knows a new topic.
    expect(topics.registry.versions.pending()).toEqual([]);
    const versions = [versionOf()];
    const changes: (() => unknown)[] = [
      () => topics.change(ARN, { basedOn: 1, attributes: { DisplayName: "x" } }),
      () => subscribe(topics, toQueue("mail")),
      () =>
        changeSubscription(topics, topics.registry.subscriptionsOf(ARN)[0]?.arn ?? "", {
          basedOn: 1,
          attributes: {},
          deadLetterQueue: null,
        }),
      () => unsubscribe(topics, topics.registry.subscriptionsOf(ARN)[0]?.arn ?? "", null),
    ];
    for (const change of changes) {
      expect(change()).toMatchObject({ ok: true });
      versions.push(versionOf());
      expect(topics.registry.versions.pending()).toMatchObject([{ version: versionOf() }]);
    }
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
    expect(topics.registry.versionOfObject(objectOf())).toBe(versionOf());
  });

  it("is none once the topic is deleted, of which its object is notified once for all of it", () => {
    create();
    for (const queue of ["mail", "audit"]) subscribe(topics, toQueue(queue));
    for (const notice of topics.registry.versions.pending()) topics.registry.versions.notified(notice);
    const object = objectOf();
    topics.delete(ARN);
    expect(topics.registry.versions.pending()).toHaveLength(1);
    expect(topics.registry.versionOfObject(object)).toBeNull();
  });
});

describe("what the configuration says of all topics", () => {
  const hook = { ...toQueue("", { protocol: "http", endpoint: HOOK }), target: null };
  const definitionOf = (target: string) => queues.queue(target)?.record.definition;

  it("is what the queue of an endpoint is set to", () => {
    create();
    const plain = definitionOf(subscriptionIn(subscribe(topics, hook)).target);
    expect(plain?.messageRetentionSeconds).toBe(3_600);
    expect(plain?.consumer?.settings).not.toHaveProperty("clientErrors");
    settings = { messageLifeSeconds: 86_400, clientErrors: "retry" };
    topics = restarted();
    const other = subscriptionIn(subscribe(topics, { ...hook, endpoint: `${HOOK}/2` }));
    expect(definitionOf(other.target)).toMatchObject({
      messageRetentionSeconds: 86_400,
      consumer: { settings: { clientErrors: "retry" } },
    });
  });

  it("changes queues that exist when it is deployed, once", () => {
    create();
    const { target } = subscriptionIn(subscribe(topics, hook));
    const revisionOf = () => queues.queue(target)?.record.revision;
    settings = { messageLifeSeconds: 60 };
    topics = restarted();
    topics.applySettings();
    expect(definitionOf(target)?.messageRetentionSeconds).toBe(60);
    expect(queues.pending()).toMatchObject([{ record: { name: target } }]);
    const revision = revisionOf();
    topics.applySettings();
    expect(revisionOf()).toBe(revision);
  });
});

describe("a topic", () => {
  it("is created once, is there after a restart, and is gone with its subscriptions when it is deleted", () => {
    const topic = create({ tags: { team: "a" } });
    expect(topics.create({ arn: ARN, isFifo: true, attributes: {}, tags: {} })).toEqual({
      ok: false,
      refusal: { kind: "topicExists", topic },
    });
    subscribe(topics, toQueue("mail"));
    nowMs += 1;
    subscribe(topics, toUrl("t1"));
    topics = restarted();
    const known = topics.registry.snapshot(ARN);
    expect(known?.topic).toEqual(topic);
    // Both are of one moment: neither is the older one.
    expect(known?.subscriptions.map(({ target }) => target === "mail").sort()).toEqual([false, true]);
    expect(queues.hidden()).toHaveLength(1);
    topicIn(topics.delete(ARN));
    expect([refusalIn(topics.delete(ARN)), queues.hidden()]).toEqual(["topicNotFound", []]);
    topics = restarted();
    expect([topics.registry.topics(), topics.registry.subscriptions()]).toEqual([[], []]);
  });

  it("is changed only from what it was: of two changes at once none is lost", () => {
    const { revision } = create();
    const tagged = topicIn(topics.change(ARN, { basedOn: revision, tags: { a: "1" } }));
    expect(refusalIn(topics.change(ARN, { basedOn: revision, tags: {} }))).toBe("changedMeanwhile");
    const named = topics.change(ARN, { basedOn: tagged.revision, attributes: { DisplayName: "x" } });
    expect(topicIn(named)).toMatchObject({ tags: { a: "1" }, attributes: { DisplayName: "x" } });
    expect(refusalIn(topics.change(`${ARN}2`, { basedOn: 1 }))).toBe("topicNotFound");
  });

  it("is left out when its row is damaged, and so are its subscriptions; the log says so", () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    create();
    subscribe(topics, toQueue("mail"));
    sql.exec("UPDATE topics SET row = replace(row, 'news', 'olds')");
    expect(restarted().registry.snapshot(ARN)).toBeNull();
    expect(log.mock.calls).toEqual([
      [`Directory: the stored row of topic "${ARN}" is damaged, and is left out`],
    ]);
    log.mockRestore();
  });

  it("keeps the first signing identity", () => {
    expect(topics.signingIdentity()).toBeNull();
    const first = { privateKeyPkcs8: "k1", certificatePem: "c1" };
    expect(topics.keepSigningIdentity(first)).toEqual(first);
    expect(topics.keepSigningIdentity({ privateKeyPkcs8: "k2", certificatePem: "c2" })).toEqual(first);
    expect(restarted().signingIdentity()).toEqual(first);
  });
});

describe("a subscription", () => {
  it("a subscription of a queue is confirmed at once, one per topic and endpoint", () => {
    create();
    expect(refusalIn(subscribe(topics, toQueue("mail", { topicArn: `${ARN}2` })))).toBe("topicNotFound");
    const subscription = subscriptionIn(subscribe(topics, toQueue("mail")));
    expect(subscription).toMatchObject({
      arn: `${ARN}:${subscription.subscriptionId}`,
      target: "mail",
      status: { kind: "confirmed", wasAuthenticated: true },
    });
    expect(subscribe(topics, toQueue("mail"))).toEqual({
      ok: false,
      refusal: { kind: "subscriptionExists", subscription },
    });
    expect(queues.hidden()).toEqual([]);
  });

  it("a subscription of a URL is pending until its token comes back, for two days, and gets a queue that no list has", () => {
    create();
    const { arn, target } = subscriptionIn(subscribe(topics, toUrl("t1")));
    expect(endpointQueue()).toMatchObject({
      name: target,
      definition: { consumer: { type: "http_push", settings: { url: HOOK, format: "sns" } } },
    });
    expect([queues.list(), queues.size]).toEqual([[], 0]);
    expect(refusalIn(confirm(topics, confirmation("t2")))).toBe("tokenUnknown");
    nowMs += CONFIRMATION_TOKEN_MS;
    expect(refusalIn(confirm(topics, confirmation("t1")))).toBe("tokenUnknown");
    subscriptionIn(renewToken(topics, arn, "t3"));
    topics = restarted();
    expect(refusalIn(confirm(topics, confirmation("t1")))).toBe("tokenUnknown");
    const elsewhere = { ...confirmation("t3"), region: "eu-west-1" };
    expect(refusalIn(confirm(topics, elsewhere))).toBe("topicOfOtherRegion");
    const confirmed = subscriptionIn(confirm(topics, confirmation("t3")));
    // Who is not known cannot ask for others to be known.
    expect(confirmed.status).toMatchObject({
      kind: "confirmed",
      wasAuthenticated: false,
      authenticateOnUnsubscribe: false,
    });
    expect(subscriptionIn(confirm(topics, confirmation("t3")))).toEqual(confirmed);
    expect(refusalIn(renewToken(topics, arn, "t4"))).toBe("subscriptionNotFound");
  });

  it("is deleted after three days if it is not confirmed, and that is logged", () => {
    create();
    const { arn } = subscriptionIn(subscribe(topics, toUrl("t1")));
    nowMs += PENDING_SUBSCRIPTION_MS - 1;
    expect([isSweepDue(topics), sweep(topics)]).toEqual([false, false]);
    nowMs += 1;
    expect([isSweepDue(topics), sweep(topics)]).toEqual([true, true]);
    expect([topics.registry.subscriptions(), queues.hidden()]).toEqual([[], []]);
    expect(warnings).toEqual([`the subscription "${arn}" was not confirmed in time and is deleted`]);
  });

  it("can be taken back for two days by who was not asked when it ended", () => {
    create();
    const { arn } = subscriptionIn(subscribe(topics, toUrl("t1")));
    subscriptionIn(confirm(topics, confirmation("t1")));
    subscriptionIn(unsubscribe(topics, arn, "undo"));
    expect(topics.registry.subscriptionsOf(ARN)).toEqual([]);
    expect(topics.registry.topic(ARN)?.endedSubscriptions).toBe(1);
    expect(refusalIn(unsubscribe(topics, arn, null))).toBe("subscriptionNotFound");
    expect(subscriptionIn(confirm(topics, confirmation("undo"))).arn).toBe(arn);
    subscriptionIn(unsubscribe(topics, arn, "undo again"));
    nowMs += CONFIRMATION_TOKEN_MS;
    expect([sweep(topics), queues.hidden(), warnings]).toEqual([true, [], []]);
  });

  it("is deleted for good with its queue, and can be made anew", () => {
    create();
    const { arn } = subscriptionIn(subscribe(topics, toUrl("t1")));
    subscriptionIn(unsubscribe(topics, arn, null));
    expect([queues.hidden(), topics.registry.subscription(arn)]).toEqual([[], undefined]);
    expect(subscriptionIn(subscribe(topics, toUrl("t2"))).arn).not.toBe(arn);
  });

  it("is changed only from what it was", () => {
    create();
    const { arn, revision } = subscriptionIn(subscribe(topics, toQueue("mail")));
    const change = { basedOn: revision, attributes: { RawMessageDelivery: "true" }, deadLetterQueue: "dead" };
    expect(subscriptionIn(changeSubscription(topics, arn, change))).toMatchObject({
      attributes: { RawMessageDelivery: "true" },
      deadLetterQueue: "dead",
    });
    expect(refusalIn(changeSubscription(topics, arn, change))).toBe("changedMeanwhile");
    expect(refusalIn(changeSubscription(topics, `${ARN}:none`, change))).toBe("subscriptionNotFound");
  });

  it.each([
    [false, TOPIC_SUBSCRIPTIONS_MAX],
    [true, FIFO_TOPIC_SUBSCRIPTIONS_MAX],
  ])("is one of so many of a topic (FIFO: %s)", (isFifo, max) => {
    create({ isFifo });
    for (let i = 0; i < max; i++) subscriptionIn(subscribe(topics, toQueue(`q${i}`)));
    expect(refusalIn(subscribe(topics, toQueue("one more")))).toBe("tooManySubscriptions");
  });

  it("a subscription with a filter policy is one of a limited number", () => {
    create();
    const attributes = { FilterPolicy: "{}" };
    for (let i = 0; i < TOPIC_FILTER_POLICIES_MAX; i++) {
      subscriptionIn(subscribe(topics, toQueue(`q${i}`, { attributes })));
    }
    expect(refusalIn(subscribe(topics, toQueue("x", { attributes })))).toBe("tooManyFilterPolicies");
    const { arn, revision } = subscriptionIn(subscribe(topics, toQueue("x")));
    const change = { basedOn: revision, attributes, deadLetterQueue: null };
    expect(refusalIn(changeSubscription(topics, arn, change))).toBe("tooManyFilterPolicies");
  });

  it.each([
    [{}, TOPIC_SUBSCRIPTIONS_MAX, "tooManySubscriptions"],
    [{ FilterPolicy: "{}" }, TOPIC_FILTER_POLICIES_MAX, "tooManyFilterPolicies"],
  ])(
    "leaves its place when it ends, and is taken back only while there is one (%j)",
    (attributes, max, full) => {
      create();
      const { arn } = subscriptionIn(subscribe(topics, toUrl("t1", { attributes })));
      subscriptionIn(confirm(topics, confirmation("t1")));
      for (let i = 1; i < max; i++) subscriptionIn(subscribe(topics, toQueue(`q${i}`, { attributes })));
      subscriptionIn(unsubscribe(topics, arn, "undo"));
      const last = subscriptionIn(subscribe(topics, toQueue("last", { attributes })));
      expect(refusalIn(confirm(topics, confirmation("undo")))).toBe(full);
      subscriptionIn(unsubscribe(topics, last.arn, null));
      expect(subscriptionIn(confirm(topics, confirmation("undo"))).arn).toBe(arn);
    },
  );
});

describe("the queue of a URL", () => {
  const policy = (numRetries: number, maxReceivesPerSecond: number | null) =>
    JSON.stringify({
      healthyRetryPolicy: { minDelayTarget: 1, maxDelayTarget: 60, numRetries },
      sicklyRetryPolicy: null,
      throttlePolicy: maxReceivesPerSecond === null ? null : { maxReceivesPerSecond },
      requestPolicy: { headerContentType: "application/json" },
      guaranteed: false,
    });

  it("goes by the policy of its subscription, else by that of its topic, as either changes", () => {
    const { revision } = create();
    const { arn, revision: before } = subscriptionIn(subscribe(topics, toUrl("t1")));
    expect(endpointQueue()?.definition).toMatchObject({
      consumer: { settings: { maxRetries: 3, retryPolicy: { kind: "sns", minDelayTarget: 20 } } },
    });
    const http = { defaultHealthyRetryPolicy: { minDelayTarget: 2, maxDelayTarget: 2, numRetries: 7 } };
    topics.change(ARN, { basedOn: revision, attributes: { DeliveryPolicy: JSON.stringify({ http }) } });
    expect(endpointQueue()?.definition.consumer?.settings.maxRetries).toBe(7);
    const attributes = { DeliveryPolicy: policy(50, 10) };
    changeSubscription(topics, arn, { basedOn: before, attributes, deadLetterQueue: "dead" });
    expect(endpointQueue()?.definition).toMatchObject({
      maxReceivesPerSecond: 10,
      consumer: { settings: { maxRetries: 50, contentType: "application/json", deadLetterQueue: "dead" } },
    });
  });

  it("takes credentials with a lone percent sign as they are", () => {
    create();
    subscribe(topics, toUrl("t1", { endpoint: "http://50%:x@localhost:9/hook" }));
    expect(endpointQueue()?.definition.consumer?.settings).toMatchObject({
      credentials: { username: "50%", password: "x" },
    });
  });

  it("keeps credentials out of the URL", () => {
    create();
    subscribe(topics, toUrl("t1", { endpoint: "http://ann:p%40ss@localhost:9/hook" }));
    expect(endpointQueue()?.definition.consumer?.settings).toMatchObject({
      url: HOOK,
      credentials: { username: "ann", password: "p@ss" },
    });
  });
});

it("what cannot be delivered to a queue goes to the dead-letter queue of its subscription, or is dropped with the reason", () => {
  const { topicId } = create();
  subscribe(topics, toQueue("mail", { deadLetterQueue: "dead" }));
  subscribe(topics, toQueue("audit"));
  const destinationOf = (queue: string) => undeliverableTo(topics.registry, `topic/${topicId}`, queue);
  expect(destinationOf("mail")).toEqual({ kind: "deadLetter", queue: "dead" });
  expect(destinationOf("audit")).toMatchObject({ reason: expect.stringContaining("no dead-letter queue") });
  expect(destinationOf("unsubscribed")).toMatchObject({
    kind: "dropped",
    reason: "its subscription has ended",
  });
});
