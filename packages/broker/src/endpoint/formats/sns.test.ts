import {
  decodeAttributes,
  encodeAttributes,
  type StoredAttributes,
  type StoredNotification,
} from "@sluice/aws";
import {
  type HttpPushSettings,
  type PackedIndex,
  packMessages,
  type QueueDefinition,
} from "@sluice/protocol";
import { jitterRandom, nextDelayMs, SNS_DEFAULTS, SNS_PRESETS } from "@sluice/retry";
import { describe, expect, it } from "vitest";
import { endpoint, testId } from "../../../test/messages.ts";
import { answered, WORLD_START_MS, World } from "../../../test/world.ts";
import { HEARTBEAT_MS } from "../../next-wake.ts";
import type { EndpointOutcome } from "../endpoint.ts";

/*
 * Delivery of messages of a topic on the virtual clock: the acceptance tests of spec sns-delivery 11.6 that have to do with
 * time and with dead letters. A7 to A12 are tests of @sluice/retry.
 */

const QUEUE = "subscription/1";
const LIFE_SECONDS = 3_600;
const NOTIFICATION: StoredNotification = {
  type: "Notification",
  topicArn: "arn:aws:sns:us-east-1:000000000000:orders",
  subscriptionArn: "arn:aws:sns:us-east-1:000000000000:orders:1",
  isRaw: false,
};
const DEFAULTS = { kind: "sns", ...SNS_DEFAULTS, jitter: "none" } as const;
const SAMPLE = { kind: "sns", ...SNS_PRESETS["sns-http-sample"], jitter: "none" } as const;

function worldWith(settings: Partial<HttpPushSettings> = {}, queue: Partial<QueueDefinition> = {}): World {
  const consumer = endpoint({
    format: "sns",
    contentType: "text/plain; charset=UTF-8",
    responseTimeoutSeconds: 15,
    retryPolicy: DEFAULTS,
    deadLetterQueue: "dead",
    ...settings,
  });
  return new World({ [QUEUE]: { messageRetentionSeconds: LIFE_SECONDS, ...queue, consumer }, dead: {} });
}

/** Publishes messages as a topic hands them over. Answers their ids. */
async function publish(
  world: World,
  bodies: readonly string[],
  { notification = NOTIFICATION, attributes = {} }: Partial<StoredAttributes> = {},
): Promise<string[]> {
  const stored = encodeAttributes({ attributes, traceHeader: null, notification });
  const records = bodies.map((body) => ({
    id: testId(),
    contentType: "text" as const,
    body: new TextEncoder().encode(body),
    timestampMs: world.nowMs,
    extension: stored === undefined ? {} : { attributes: stored },
  }));
  nextHandOver += 1;
  await world.core(QUEUE).take({ source: "topic/1", id: nextHandOver, packed: packMessages(records) });
  return records.map(({ id }) => id);
}
let nextHandOver = 0;

const timesOf = (world: World) => world.posts.map(({ atMs }) => atMs);
const bodiesOf = (world: World) => world.posts.map(({ body }) => new TextDecoder().decode(body));

/** What is in the dead-letter queue. */
function deadLetters(world: World) {
  const { queue, payloadOf } = world.core("dead");
  return [...queue.segments.values()].flatMap(({ id, count }) => {
    const payload: PackedIndex = payloadOf(id);
    return Array.from({ length: count }, (_, i) => ({
      ...payload.message(i),
      text: new TextDecoder().decode(payload.message(i).body),
      extension: payload.hasExtension(i) ? payload.extension(i) : {},
    }));
  });
}

/** An endpoint that takes the request and never answers. */
function hangs(world: World): void {
  world.answer = ({ responseTimeoutMs }) => {
    const answer = Promise.withResolvers<EndpointOutcome>();
    pending.push({ atMs: world.nowMs + responseTimeoutMs, answer });
    return answer.promise;
  };
  const pending: { atMs: number; answer: PromiseWithResolvers<EndpointOutcome> }[] = [];
  const pass = world.pass.bind(world);
  world.pass = async (ms) => {
    const untilMs = world.nowMs + ms;
    for (;;) {
      await world.quiet();
      const next = pending[0];
      if (next === undefined || next.atMs > untilMs) break;
      await pass(next.atMs - world.nowMs);
      pending.shift();
      next.answer.resolve({ kind: "timedOut", reason: "it did not answer within 15 s" });
      await world.quiet();
      // Without an answer under way, it is the queue's alarm that decides when the next request is made.
      while (pending.length === 0 && world.nowMs < untilMs) {
        await pass(Math.min(untilMs - world.nowMs, Math.max(0, world.alarmIn(QUEUE) ?? Infinity)));
        if (world.alarmIn(QUEUE) === null) break;
      }
    }
    if (world.nowMs < untilMs) await pass(untilMs - world.nowMs);
  };
}

describe("the acceptance tests of delivery (spec sns-delivery 11.6)", () => {
  it("A1: the delays of a policy are those between its requests, to the millisecond", async () => {
    for (const [backoffFunction, delays] of [
      ["linear", [5000, 33333, 61667, 90000, 118333, 146667, 175000, 203333, 231667, 260000]],
      ["arithmetic", [5000, 10667, 22000, 39000, 61667, 90000, 124000, 163667, 209000, 260000]],
      ["geometric", [5000, 6049, 10936, 21358, 38580, 63662, 97536, 141044, 194959, 260000]],
      ["exponential", [5000, 5499, 6497, 8493, 12485, 20470, 36438, 68376, 132250, 260000]],
    ] as const) {
      const policy = { ...DEFAULTS, minDelayTarget: 5, maxDelayTarget: 260, numRetries: 10, backoffFunction };
      const world = worldWith({ retryPolicy: policy });
      world.answer = () => answered(503);
      await publish(world, ["a"]);
      await world.pass(LIFE_SECONDS * 1_000);
      const times = timesOf(world);
      expect(times.slice(1).map((time, i) => time - (times[i] ?? 0))).toEqual(delays);
    }
  });

  it("A2: the sample policy makes 51 requests, the last at 2,228,959 ms, and a dead letter then", async () => {
    const world = worldWith({ retryPolicy: SAMPLE });
    world.answer = () => answered(503);
    await publish(world, ["a"]);
    await world.pass(2_228_958);
    expect(world.posts).toHaveLength(50);
    expect(timesOf(world).slice(0, 7)).toEqual([0, 0, 0, 0, 1_000, 2_000, 3_000]);
    expect(deadLetters(world)).toEqual([]);
    await world.pass(1);
    expect(world.posts).toHaveLength(51);
    expect(timesOf(world).at(-1)).toBe(2_228_959);
    expect(deadLetters(world).map(({ text }) => text)).toEqual(["a"]);
  });

  it("A3: with an endpoint that hangs, delays count from the end of an attempt: the last begins at 2,978,959 ms", async () => {
    const world = worldWith({ retryPolicy: SAMPLE });
    hangs(world);
    await publish(world, ["a"]);
    await world.pass(LIFE_SECONDS * 1_000);
    expect(timesOf(world).slice(0, 6)).toEqual([0, 15_000, 30_000, 45_000, 61_000, 77_000]);
    expect(world.posts).toHaveLength(51);
    expect(timesOf(world).at(-1)).toBe(2_228_959 + 50 * 15_000);
    expect(deadLetters(world)).toHaveLength(1);
  });

  it.each([300, 301, 307, 400, 401, 403, 404, 410])(
    "A4: %i is one request, and a dead letter at once",
    async (status) => {
      const world = worldWith();
      world.answer = () => answered(status);
      await publish(world, ["a"]);
      await world.pass(0);
      expect(deadLetters(world)).toHaveLength(1);
      await world.pass(LIFE_SECONDS * 1_000);
      expect(world.posts).toHaveLength(1);
    },
  );

  it.each([300, 400, 404, 410, 499])(
    "is tried again after %i by the policy, where that is set",
    async (status) => {
      const world = worldWith({ clientErrors: "retry" });
      world.answer = () => answered(world.posts.length > 1 ? 200 : status);
      await publish(world, ["a"]);
      await world.pass(30_000);
      expect(timesOf(world)).toEqual([0, 20_000]);
    },
  );

  it("is dead after its last retry, whatever the answers", async () => {
    const world = worldWith({ clientErrors: "retry" });
    world.answer = () => answered(404);
    await publish(world, ["a"]);
    await world.pass(60_000);
    expect(world.posts).toHaveLength(4);
    expect(deadLetters(world)).toHaveLength(1);
  });

  it("is delivered whatever the answer up to 499 but for 429, where that is set, and the log says so", async () => {
    const world = worldWith({ clientErrors: "delivered" });
    const statuses = [300, 404, 499, 429, 200, 500, 200];
    world.answer = () => answered(statuses[world.posts.length - 1] ?? 200);
    for (const body of ["a", "b", "c", "d", "e"]) {
      await publish(world, [body]);
      await world.pass(21_000);
    }
    expect(world.posts).toHaveLength(7);
    expect(deadLetters(world)).toHaveLength(0);
    expect(world.lines.filter((line) => line.includes("set to count as delivered"))).toHaveLength(3);
  });

  it("A5: 429 and then 200 are two requests, 20,000 ms apart under the default policy", async () => {
    const world = worldWith();
    // SNS says nothing of Retry-After.
    world.answer = () => (world.posts.length === 1 ? answered(429, "3") : answered(200));
    await publish(world, ["a"]);
    await world.pass(LIFE_SECONDS * 1_000);
    expect(timesOf(world)).toEqual([0, 20_000]);
    expect(deadLetters(world)).toEqual([]);
  });

  it("A6: a throttle of 10 sends 25 messages at 0, 100, …, 2400 ms", async () => {
    const world = worldWith({}, { maxReceivesPerSecond: 10 });
    await publish(
      world,
      Array.from({ length: 25 }, (_, i) => `${i}`),
    );
    await world.pass(10_000);
    expect(timesOf(world)).toEqual(Array.from({ length: 25 }, (_, i) => 100 * i));
  });

  it("A13: a restart between failure and retry changes neither the number of the retry nor its moment, jitter included", async () => {
    const policy = { ...SAMPLE, jitter: "equal" } as const;
    const runs = [false, true].map(async (restarts) => {
      const world = worldWith({ retryPolicy: policy });
      world.answer = () => answered(503);
      // The random number is a hash of the message's id, so both runs have to send the same one.
      const stored = encodeAttributes({ attributes: {}, traceHeader: null, notification: NOTIFICATION });
      const message = {
        id: "5f1c3c1e8f6e4c3c9a5d1f3a5b7c9d0e",
        contentType: "text" as const,
        body: new Uint8Array([97]),
        timestampMs: world.nowMs,
        extension: stored === undefined ? {} : { attributes: stored },
      };
      await world.core(QUEUE).take({ source: "topic/1", id: 1, packed: packMessages([message]) });
      for (let i = 0; i < 360; i++) {
        await world.pass(10_000);
        if (restarts && world.alarmIn(QUEUE) !== 0) {
          world.crash(QUEUE);
          world.core(QUEUE);
        }
      }
      return { id: message.id, times: timesOf(world), dead: deadLetters(world).length };
    });
    const [calm, restarted] = await Promise.all(runs);
    expect(restarted).toEqual(calm);
    expect(calm?.dead).toBe(1);
    const delays = calm?.times.slice(1).map((time, i) => time - (calm.times[i] ?? 0));
    const expected = Array.from({ length: 50 }, (_, i) =>
      nextDelayMs(policy, i + 1, () => jitterRandom("", QUEUE, calm?.id ?? "", i + 1)),
    );
    expect(delays).toEqual(expected);
  });

  it("A14: a dead letter is a new message with the body that the endpoint would have got, and without attributes", async () => {
    const world = worldWith();
    world.answer = () => answered(404);
    const [id] = await publish(world, ['{\n  "Type" : "Notification"\n}']);
    await world.pass(5_000);
    const [letter] = deadLetters(world);
    expect(letter?.text).toBe('{\n  "Type" : "Notification"\n}');
    expect(letter?.extension).toEqual({});
    expect(letter?.id).toMatch(/^[0-9a-f]{32}$/);
    expect(letter?.id).not.toBe(id);
  });

  it("A14: with raw delivery it has the message itself, and the publisher's attributes", async () => {
    const world = worldWith();
    world.answer = () => answered(404);
    const attributes = { color: { DataType: "String", StringValue: "blue" } };
    await publish(world, ["hello"], { attributes, notification: { ...NOTIFICATION, isRaw: true } });
    await world.pass(0);
    const [letter] = deadLetters(world);
    expect(letter?.text).toBe("hello");
    expect(decodeAttributes(letter?.extension.attributes)).toEqual({ attributes, traceHeader: null });
  });

  it.each(["SubscriptionConfirmation", "UnsubscribeConfirmation"] as const)(
    "A15: a %s to a dead endpoint is retried by the policy, and is no dead letter",
    async (type) => {
      const world = worldWith();
      world.answer = () => answered(503);
      await publish(world, ["{}"], { notification: { ...NOTIFICATION, type } });
      await world.pass(LIFE_SECONDS * 1_000);
      expect(timesOf(world)).toEqual([0, 20_000, 40_000, 60_000]);
      expect(deadLetters(world)).toEqual([]);
      expect(world.lines.filter((line) => line.startsWith("warn: Dropped message"))).toHaveLength(1);
    },
  );
});

describe("a request with a message of a topic (spec sns-delivery 8.1)", () => {
  it("is a POST with SNS's headers, the same id and bytes in every attempt, and no question whether anybody is there", async () => {
    const world = worldWith();
    world.answer = () => (world.posts.length < 3 ? answered(503) : answered(204));
    const [id = ""] = await publish(world, ["{}"]);
    await world.pass(60_000);
    expect(world.posts).toHaveLength(3);
    const uuid = id.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
    for (const post of world.posts) {
      expect(post).toMatchObject({ connectTimeoutMs: null, responseTimeoutMs: 15_000 });
      expect(post.headers).toEqual({
        "x-amz-sns-message-type": "Notification",
        "x-amz-sns-message-id": uuid,
        "x-amz-sns-topic-arn": NOTIFICATION.topicArn,
        "x-amz-sns-subscription-arn": NOTIFICATION.subscriptionArn,
        "content-type": "text/plain; charset=UTF-8",
        "user-agent": "Amazon Simple Notification Service Agent",
        "accept-encoding": "gzip,deflate",
      });
    }
    expect(bodiesOf(world)).toEqual(["{}", "{}", "{}"]);
  });

  it("has the content type of the policy, unless raw delivery was switched off since", async () => {
    const world = worldWith({ contentType: "text/csv" });
    await publish(world, ["a"], { notification: { ...NOTIFICATION, isRaw: true } });
    await publish(world, ["{}"]);
    await world.pass(0);
    expect(world.posts.map(({ headers }) => headers["content-type"])).toEqual([
      "text/csv",
      "text/plain; charset=UTF-8",
    ]);
  });
});

describe("failures (spec sns-delivery 6.2)", () => {
  it.each(["closed", "unreachable", "timedOut"] as const)(
    "an endpoint that is %s is tried again by the policy",
    async (kind) => {
      const world = worldWith();
      world.answer = () => ({ kind, reason: "nobody answers" });
      await publish(world, ["a"]);
      await world.pass(LIFE_SECONDS * 1_000);
      expect(timesOf(world)).toEqual([0, 20_000, 40_000, 60_000]);
      expect(world.pings).toBe(0);
      expect(deadLetters(world)).toHaveLength(1);
    },
  );

  it("a message that fails stalls no other one", async () => {
    const world = worldWith();
    world.answer = ({ body }) => answered(new TextDecoder().decode(body) === "bad" ? 503 : 200);
    await publish(world, ["bad", "a"]);
    await world.pass(0);
    await publish(world, ["b"]);
    await world.pass(1_000);
    expect(bodiesOf(world)).toEqual(["bad", "a", "b"]);
  });

  it("without a dead-letter queue, a message that is out of retries is dropped, and the log says so", async () => {
    const world = worldWith({ deadLetterQueue: null });
    world.answer = () => answered(404);
    const [id] = await publish(world, ["a"]);
    await world.pass(0);
    expect(world.lines.at(-1)).toBe(
      `warn: Dropped message "${id}" on queue "${QUEUE}" after 1 failed attempt(s): it answered 404, which no other attempt would change`,
    );
  });

  it("a request whose answer a crash takes away is made again, as another attempt", async () => {
    const world = worldWith();
    const never = Promise.withResolvers<EndpointOutcome>();
    world.answer = () => (world.posts.length === 1 ? never.promise : answered(200));
    await publish(world, ["a"]);
    await world.pass(1_000);
    world.crash(QUEUE);
    await world.pass(HEARTBEAT_MS);
    expect(bodiesOf(world)).toEqual(["a", "a"]);
  });
});

describe("a policy that changes while messages wait (spec sns-delivery 11.2)", () => {
  const change = (world: World, policy: Partial<typeof DEFAULTS>) => {
    const definition = world.queues[QUEUE];
    if (definition?.consumer?.type !== "http_push") throw new Error("it is an endpoint");
    const settings = { ...definition.consumer.settings, retryPolicy: { ...DEFAULTS, ...policy } };
    const changed = () => {
      world.queues[QUEUE] = { ...definition, consumer: { type: "http_push", settings } };
    };
    return world.core(QUEUE).reconfigure(changed, () => {});
  };

  it("and grows goes on at the same number of retries", async () => {
    const world = worldWith();
    world.answer = () => answered(503);
    await publish(world, ["a"]);
    await world.pass(20_000);
    await change(world, { numRetries: 5, minDelayTarget: 10, maxDelayTarget: 50 });
    await world.pass(LIFE_SECONDS * 1_000);
    // The wait that had begun is not changed; retries 3 to 5 are the third to fifth of the new policy.
    expect(timesOf(world)).toEqual([0, 20_000, 40_000, 70_000, 110_000, 160_000]);
    expect(deadLetters(world)).toHaveLength(1);
  });

  it("and shrinks is exhausted at the next failure", async () => {
    const world = worldWith();
    world.answer = () => answered(503);
    await publish(world, ["a"]);
    await world.pass(20_000);
    await change(world, { numRetries: 0 });
    await world.pass(19_999);
    expect(deadLetters(world)).toEqual([]);
    await world.pass(1);
    expect(timesOf(world)).toEqual([0, 20_000, 40_000]);
    expect(deadLetters(world)).toHaveLength(1);
  });
});

describe("the life of a message: an hour from its publication (spec sns-delivery 7, 11.2)", () => {
  const minutes = (minDelayTarget: number, numRetries: number) =>
    ({ ...DEFAULTS, minDelayTarget, maxDelayTarget: minDelayTarget, numRetries }) as const;

  it("ends after an attempt at its very end", async () => {
    const world = worldWith({ retryPolicy: minutes(60, 60) });
    world.answer = () => answered(503);
    await publish(world, ["a"]);
    await world.pass(LIFE_SECONDS * 1_000);
    expect(world.posts).toHaveLength(61);
    expect(timesOf(world).at(-1)).toBe(3_600_000);
    expect(deadLetters(world)).toHaveLength(1);
  });

  it("ends at the failure after which the next attempt would be too late", async () => {
    const world = worldWith({ retryPolicy: minutes(1_800, 2) });
    const answers = [answered(503)];
    world.answer = () => answers.shift() ?? new Promise((resolve) => waiting.push(resolve));
    const waiting: ((outcome: EndpointOutcome) => void)[] = [];
    await publish(world, ["a"]);
    await world.pass(1_800_001);
    expect(deadLetters(world)).toEqual([]);
    waiting[0]?.(answered(503));
    await world.pass(0);
    expect(deadLetters(world)).toHaveLength(1);
    expect(world.lines.join("\n")).toContain(
      "the next attempt would be later than 3600 s after it was published",
    );
    await world.pass(LIFE_SECONDS * 1_000);
    expect(world.posts).toHaveLength(2);
  });

  it("ends for what a throttle has kept waiting, which takes no slot from what can still be delivered", async () => {
    const world = worldWith({}, { maxReceivesPerSecond: 1 });
    await publish(
      world,
      Array.from({ length: 3_650 }, (_, i) => `${i}`),
    );
    await world.pass(3_600_001);
    expect(world.posts).toHaveLength(3_601);
    expect(deadLetters(world)).toHaveLength(49);
    await publish(world, ["new"]);
    await world.pass(1_000);
    expect(bodiesOf(world).at(-1)).toBe("new");
    expect(world.lines.join("\n")).toContain("it was not delivered within 3600 s");
  });

  it("begins anew in the dead-letter queue", async () => {
    const world = worldWith();
    world.answer = () => answered(503);
    await publish(world, ["a"]);
    await world.pass(60_000);
    expect(deadLetters(world).map(({ timestampMs }) => timestampMs)).toEqual([WORLD_START_MS + 60_000]);
  });
});

describe("an endpoint that asks for credentials (spec sns-delivery 6.2, 8.1)", () => {
  const credentials = { username: "ann", password: "secret" };
  const challenged = (challenge: string): EndpointOutcome => ({
    kind: "answered",
    status: 401,
    retryAfter: null,
    challenge,
  });
  const authorizations = (world: World) => world.posts.map(({ headers }) => headers.authorization);

  it("gets the request once more with them, in what is left of its time, and that is one attempt", async () => {
    const world = worldWith({ credentials });
    world.answer = async ({ headers }) => {
      if (headers.authorization !== undefined) return answered(200);
      world.nowMs += 5_000;
      return challenged('Basic realm="shop"');
    };
    await publish(world, ["a"]);
    await world.pass(0);
    expect(authorizations(world)).toEqual([undefined, `Basic ${btoa("ann:secret")}`]);
    expect(world.posts.map(({ responseTimeoutMs }) => responseTimeoutMs)).toEqual([15_000, 10_000]);
    expect(world.posts[1]).toMatchObject({ body: world.posts[0]?.body, url: world.posts[0]?.url });
    expect(world.core(QUEUE).describe()).toMatchObject({ ready: 0, delayed: 0, leased: 0 });
    expect(world.core("dead").metrics().backlogCount).toBe(0);
  });

  it("has refused the message when it answers 401 again, asks in an unknown way, or there are none", async () => {
    const cases: [Partial<HttpPushSettings>, string, number][] = [
      [{ credentials }, 'Digest realm="r", nonce="n", qop="auth"', 2],
      [{ credentials }, "Bearer", 1],
      [{}, 'Basic realm="shop"', 1],
    ];
    for (const [settings, challenge, posts] of cases) {
      const world = worldWith(settings);
      world.answer = () => challenged(challenge);
      await publish(world, ["a"]);
      await world.pass(60_000);
      expect([challenge, world.posts.length]).toEqual([challenge, posts]);
      expect(world.core("dead").metrics().backlogCount).toBe(1);
    }
  });

  it("is not asked a second time when its time is over: it has not answered in time, which is no refusal", async () => {
    const world = worldWith({ credentials });
    world.answer = async () => {
      if (world.posts.length > 1) return answered(200);
      world.nowMs += 15_000;
      return challenged("Basic");
    };
    await publish(world, ["a"]);
    await world.pass(0);
    expect(world.posts).toHaveLength(1);
    await world.pass(60_000);
    expect(authorizations(world)).toEqual([undefined, undefined]);
    expect(world.core("dead").metrics().backlogCount).toBe(0);
  });
});
