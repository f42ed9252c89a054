import { decodeAttributes, encodeAttributes } from "@sluice/aws";
import { packMessages } from "@sluice/protocol";
import { jitterRandom, nextDelayMs } from "@sluice/retry";
import { describe, expect, it } from "vitest";
import { timesOf } from "../../../test/endpoint-world.ts";
import {
  DEFAULTS,
  deadLetters,
  hangs,
  LIFE_SECONDS,
  NOTIFICATION,
  publish,
  QUEUE,
  SAMPLE,
  worldWith,
} from "../../../test/sns-world.ts";
import { answered } from "../../../test/world-endpoint.ts";

/*
 * Delivery of messages of a topic on the virtual clock: the acceptance tests of spec sns-delivery 11.6 that have to do
 * with time and with dead letters. A7 to A12 are tests of @sluice/retry.
 */

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

  it("A3: delays count from the end of an attempt that hangs: the last one begins at 2,978,959 ms", async () => {
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

  it("A13: a restart before a retry changes neither its number nor its moment, jitter included", async () => {
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
      await world.core(QUEUE).inbox.accept({ source: "topic/1", id: 1, packed: packMessages([message]) });
      for (let i = 0; i < 360; i++) {
        await world.pass(10_000);
        if (restarts && world.alarmIn(QUEUE) !== 0) {
          world.restart(QUEUE);
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

  it("A14: a dead letter is a new message with the body meant for the endpoint, without attributes", async () => {
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
