import { describe, expect, it } from "vitest";
import { bodiesOf, timesOf } from "../../../test/endpoint-world.ts";
import { DEFAULTS, deadLetters, LIFE_SECONDS, publish, QUEUE, worldWith } from "../../../test/sns-world.ts";
import { WORLD_START_MS, type World } from "../../../test/world.ts";
import { answered } from "../../../test/world-endpoint.ts";
import type { EndpointOutcome } from "../endpoint.ts";

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

  it("a policy that grows goes on at the same number of retries", async () => {
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

  it("a policy that shrinks is exhausted at the next failure", async () => {
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

describe("the retention of a message: an hour from its publication (spec sns-delivery 7, 11.2)", () => {
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

  it("ends for as many at a time as fit into memory, and none of the others is delivered meanwhile", async () => {
    const world = worldWith({ maxConcurrency: 1 });
    world.answer = () => new Promise(() => {});
    await publish(world, ["held"]);
    const large = "x".repeat(200_000);
    for (let i = 0; i < 20; i++) await publish(world, [large, large, large, large, large]);
    world.crash(QUEUE);
    world.nowMs += LIFE_SECONDS * 1_000 + 1;
    const left: number[] = [];
    for (let i = 0; i < 10 && left.at(-1) !== 0; i++) {
      await world.core(QUEUE).wake();
      left.push(world.core(QUEUE).metrics().backlogCount);
    }
    expect(left.length).toBeGreaterThan(1);
    expect(left.at(-1)).toBe(0);
    expect(world.posts).toHaveLength(1);
    await world.pass(60_000);
    expect(deadLetters(world)).toHaveLength(101);
  });

  it("begins anew in the dead-letter queue", async () => {
    const world = worldWith();
    world.answer = () => answered(503);
    await publish(world, ["a"]);
    await world.pass(60_000);
    expect(deadLetters(world).map(({ timestampMs }) => timestampMs)).toEqual([WORLD_START_MS + 60_000]);
  });
});
