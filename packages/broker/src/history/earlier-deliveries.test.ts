import type { QueueDefinition } from "@sluice/protocol";
import { expect, it } from "vitest";
import { consumer, endpoint } from "../../test/messages.ts";
import { World, worldWithHistory } from "../../test/world.ts";

const SINGLE = { maxBatchSize: 1, maxBatchTimeoutSeconds: 0, retryDelaySeconds: 60, maxRetries: 0 };
const QUEUES = { orders: { consumer: consumer({ ...SINGLE, deadLetterQueue: "dead" }) }, dead: {} };
const healthOf = (world: World) => world.core("orders").describe().consumer;

/** Makes the handler throw, ask for a retry, or end well, as a body says. */
function shop(world: World): World {
  world.handler = ({ messages: [message] }) =>
    message?.body === "throw"
      ? { outcome: "exception", error: "Error: no", stack: "Error: no\n    at shop.ts:3" }
      : message?.body === "again"
        ? { retryBatch: { retry: true } }
        : {};
  return world;
}

it.each([
  [[], 0],
  [["well"], 0],
  [["throw", "throw"], 2],
  [["well", "throw", "throw", "throw"], 3],
  [["throw", "throw", "well"], 0],
  [["again"], 0],
  [["again", "again"], 2],
  [["throw", "well", "again", "throw"], 2],
])(
  "after deliveries that end %j a queue that starts anew still knows %i failures in a row",
  async (ends, failures) => {
    const world = shop(worldWithHistory(QUEUES));
    for (const end of ends) {
      await world.sendAndPass("orders", [end]);
      await world.pass(2_000);
    }
    const before = healthOf(world);
    expect(before?.consecutiveFailures).toBe(failures);
    world.crash("orders");
    const after = healthOf(world);
    expect(after?.consecutiveFailures).toBe(failures);
    expect(after?.lastDelivery?.failure).toBe(before?.lastDelivery?.failure);
  },
);

it("a delivery that acknowledged messages before it failed is a failure after a start too", async () => {
  const several = consumer({ ...SINGLE, maxBatchSize: 3, deadLetterQueue: "dead" });
  const world = worldWithHistory({ orders: { consumer: several }, dead: {} });
  world.handler = ({ messages: [first] }) => ({
    outcome: "exception",
    error: "Error: no",
    explicitAcks: first === undefined ? [] : [first.id],
  });
  await world.sendAndPass("orders", ["a", "b", "c"]);
  await world.pass(2_000);
  expect(healthOf(world)?.consecutiveFailures).toBe(1);
  world.crash("orders");
  expect(healthOf(world)).toMatchObject({ consecutiveFailures: 1, lastDelivery: { failure: "Error: no" } });
});

it.each([
  ["dead letters", { ...QUEUES.orders }],
  ["drops", { consumer: consumer(SINGLE) }],
])("another consumer is not blamed after a start for the %s of the one before", async (_, before) => {
  const world = shop(worldWithHistory({ ...QUEUES, orders: before }));
  await world.sendAndPass("orders", ["throw", "again", "throw"]);
  await world.pass(2_000);
  expect(healthOf(world)?.consecutiveFailures).toBe(3);
  world.queues.orders = { ...world.queues.orders, consumer: endpoint() } as QueueDefinition;
  world.crash("orders");
  expect(healthOf(world)).toMatchObject({ consecutiveFailures: 0, lastDelivery: null });
});

it("a failure after the start is one more in the row, and a success ends the row", async () => {
  const world = shop(worldWithHistory(QUEUES));
  await world.sendAndPass("orders", ["throw", "throw"]);
  world.crash("orders");
  await world.sendAndPass("orders", ["throw"]);
  expect(healthOf(world)?.consecutiveFailures).toBe(3);
  await world.sendAndPass("orders", ["well"]);
  expect(healthOf(world)?.consecutiveFailures).toBe(0);
});

it("a queue without a history reads no row for it, and knows of no delivery", async () => {
  const world = shop(new World(QUEUES));
  await world.sendAndPass("orders", ["throw"]);
  world.crash("orders");
  world.store("orders").journalHeads = () => {
    throw new Error("a row was read");
  };
  expect(healthOf(world)).toMatchObject({ consecutiveFailures: 0, lastDelivery: null });
});
