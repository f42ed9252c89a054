import type { HttpPushSettings } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { bodiesOf, timesOf } from "../../../test/endpoint-world.ts";
import {
  deadLetters,
  LIFE_SECONDS,
  NOTIFICATION,
  publish,
  QUEUE,
  worldWith,
} from "../../../test/sns-world.ts";
import type { World } from "../../../test/world.ts";
import { answered } from "../../../test/world-endpoint.ts";
import { HEARTBEAT_MS } from "../../turn/heartbeat.ts";
import type { EndpointOutcome } from "../endpoint.ts";

describe("a request with a message of a topic (spec sns-delivery 8.1)", () => {
  it("is a POST with SNS's headers, the same id and bytes in every attempt, and without a probe", async () => {
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
      world.answer = () => ({ kind, reason: "no answer" });
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

  it("a message that is out of retries is dropped without a dead-letter queue, and that is logged", async () => {
    const world = worldWith({ deadLetterQueue: null });
    world.answer = () => answered(404);
    const [id] = await publish(world, ["a"]);
    await world.pass(0);
    expect(world.lines.at(-1)).toBe(
      `warn: Dropped message "${id}" on queue "${QUEUE}" after 1 failed attempt(s): ` +
        "it answered 404, which no other attempt would change",
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
