import type { QueueDefinition } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { bodiesOf, consumer, endpoint } from "../../test/messages.ts";
import { one } from "../../test/orders-world.ts";
import { World } from "../../test/world.ts";
import { answered } from "../../test/world-endpoint.ts";
import type { EndpointOutcome } from "../endpoint/endpoint.ts";
import { BACKOFF_FIRST_MS } from "../platform/backoff.ts";

async function change(world: World, changes: Partial<QueueDefinition>): Promise<void> {
  await world.core("orders").reconfigure(
    () => {
      world.queues.orders = { ...world.queues.orders, ...changes } as QueueDefinition;
    },
    () => {},
  );
}

/** A queue whose endpoint is away, with three messages. */
async function withAbsentEndpoint(): Promise<World> {
  const world = new World({ orders: { consumer: endpoint() } });
  world.answer = () => ({ kind: "unreachable", reason: "it cannot be reached" });
  await world.sendAndPass("orders", ["a", "b", "c"], BACKOFF_FIRST_MS - 1);
  expect(world.core("orders").dispatcher.health).toMatchObject({ isPresent: false, consecutiveFailures: 3 });
  return world;
}

describe("a consumer that takes the place of another one", () => {
  it("gets the messages at once, not when the other one would have been asked again", async () => {
    const world = await withAbsentEndpoint();
    await change(world, { consumer: consumer({ ...one, maxConcurrency: null }) });
    await world.pass(0);
    expect(bodiesOf(world.seen)).toEqual([["a"], ["b"], ["c"]]);
    expect(world.lines.filter((line) => line.includes("running again"))).toEqual([]);
  });

  it("gets messages while the other one has not answered its trial", async () => {
    const world = await withAbsentEndpoint();
    const trial = Promise.withResolvers<EndpointOutcome>();
    world.answer = () => trial.promise;
    await world.pass(1);
    expect(world.posts).toHaveLength(4);
    expect(world.core("orders").dispatcher.deliverer?.trial).toBe("running");
    await change(world, { consumer: consumer({ ...one, maxConcurrency: 2 }) });
    await world.pass(0);
    expect(bodiesOf(world.seen)).toEqual([["b"], ["c"]]);
    const { dispatcher } = world.core("orders");
    expect(dispatcher.deliverer?.trial).toBeNull();
    // The end of the trial says nothing about the Worker.
    trial.resolve({ kind: "unreachable", reason: "it cannot be reached" });
    await world.pass(0);
    expect(dispatcher.health).toMatchObject({ isPresent: true, consecutiveFailures: 0 });
    expect(dispatcher.health?.lastDelivery).toMatchObject({ failure: null });
  });

  it("is not taken for absent when the other one says so late", async () => {
    const world = new World({ orders: { consumer: endpoint() } });
    const late = Promise.withResolvers<EndpointOutcome>();
    world.answer = () => late.promise;
    await world.sendAndPass("orders", ["a"]);
    await change(world, { consumer: consumer(one) });
    late.resolve({ kind: "unreachable", reason: "it cannot be reached" });
    await world.pass(0);
    expect(world.core("orders").dispatcher.health).toMatchObject({ isPresent: true, consecutiveFailures: 0 });
    expect(bodiesOf(world.seen)).toEqual([["a"]]);
  });

  it("keeps what is known of it when its settings alone change", async () => {
    const world = await withAbsentEndpoint();
    await change(world, { consumer: endpoint({ responseTimeoutSeconds: 7 }) });
    await world.pass(0);
    expect(world.posts).toHaveLength(3);
    expect(world.core("orders").dispatcher.health).toMatchObject({
      isPresent: false,
      consecutiveFailures: 3,
    });
    world.answer = () => answered(200);
    await world.pass(1);
    expect(world.handled).toHaveLength(3);
  });
});
