import { expect, it } from "vitest";
import { heldAnswers, worldWith } from "../../test/endpoint-world.ts";
import { consumer, pullConsumer } from "../../test/messages.ts";
import { WORLD_START_MS, World } from "../../test/world.ts";
import { answered } from "../../test/world-endpoint.ts";

const healthOf = (world: World) => world.core("orders").describe().consumer;

it("the health of an HTTP endpoint says what is under way, how many deliveries have failed in a row, and how the last one ended", async () => {
  const world = worldWith({ retryDelaySeconds: 10 });
  expect(healthOf(world)).toEqual({
    isPresent: true,
    inFlight: 0,
    consecutiveFailures: 0,
    lastDelivery: null,
    next: null,
  });
  const answers = heldAnswers(world);
  await world.sendAndPass("orders", ["a", "b"], 1_000);
  expect(healthOf(world)).toMatchObject({ inFlight: 2, lastDelivery: null, next: null });
  for (const answer of answers) answer.resolve(answered(500));
  await world.pass(0);
  const lastDelivery = { endedMs: WORLD_START_MS + 1_000, failure: "it answered 500", acked: 0, messages: 1 };
  const next = { waitsFor: "due", atMs: WORLD_START_MS + 11_000 };
  expect(healthOf(world)).toEqual({
    isPresent: true,
    inFlight: 0,
    consecutiveFailures: 2,
    lastDelivery,
    next,
  });
  world.answer = () => answered(200);
  await world.pass(10_000);
  expect(healthOf(world)).toMatchObject({ consecutiveFailures: 0, lastDelivery: { failure: null } });
});

it("the health of an HTTP endpoint says that the endpoint is not there, until it is", async () => {
  const world = worldWith();
  world.running = false;
  world.answer = () =>
    world.running ? answered(200) : { kind: "unreachable", reason: "it cannot be reached" };
  await world.sendAndPass("orders", ["a"], 1_000);
  expect(healthOf(world)).toMatchObject({
    isPresent: false,
    lastDelivery: { failure: "it cannot be reached" },
    // Asked after 0.5 s, and 1 s after that.
    next: { waitsFor: "return", atMs: WORLD_START_MS + 1_500 },
  });
  world.running = true;
  await world.pass(60_000);
  expect(healthOf(world)).toMatchObject({ isPresent: true, consecutiveFailures: 0, next: null });
});

it("the health of an HTTP endpoint says what it cannot be called without", async () => {
  const world = worldWith({ headers: { Authorization: "$SHOP_TOKEN" } });
  await world.sendAndPass("orders", ["a"], 100);
  expect(healthOf(world)).toMatchObject({
    isPresent: false,
    lastDelivery: { failure: "it cannot be called: the environment variable SHOP_TOKEN is not set" },
  });
});

it("the health of an HTTP endpoint says when the queue's rate lets the next message out", async () => {
  const world = worldWith({}, { maxReceivesPerSecond: 1 });
  await world.sendAndPass("orders", ["a", "b", "c"]);
  expect(world.posts).toHaveLength(1);
  expect(healthOf(world)?.next).toEqual({ waitsFor: "slot", atMs: WORLD_START_MS + 1_000 });
  await world.pass(2_000);
  expect(healthOf(world)?.next).toBeNull();
});

it("the health of an HTTP endpoint says that nothing comes next while delivery is paused", async () => {
  const world = worldWith({}, { deliveryPaused: true });
  await world.sendAndPass("orders", ["a"], 1_000);
  expect(healthOf(world)).toMatchObject({ isPresent: true, inFlight: 0, next: null });
});

it("the health of an HTTP endpoint is there for a Worker, and not for a queue without a consumer", () => {
  const world = new World({
    orders: { consumer: consumer() },
    pulled: { consumer: pullConsumer() },
    idle: {},
  });
  expect(healthOf(world)).toMatchObject({ isPresent: true });
  expect(world.core("pulled").describe().consumer).toBeNull();
  expect(world.core("idle").describe().consumer).toBeNull();
});
