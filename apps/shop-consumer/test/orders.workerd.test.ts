import { createQueueRuntime, explore, type QueueRuntime, type Random, type Story } from "@sluice/testing";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { CustomerOrders } from "../src/report.ts";

interface Env {
  readonly HISTORY: { getByName(customer: string): { progress(): Promise<CustomerOrders> } };
}

let queues: QueueRuntime<Env>;

beforeAll(async () => {
  queues = await createQueueRuntime<Env>({ workers: ["./wrangler.toml"], root: `${import.meta.dirname}/..` });
}, 60_000);
beforeEach(() => queues.reset());
afterAll(() => queues?.[Symbol.asyncDispose]());

function orderOf(sku: string, id = "o-1") {
  const lines = [{ sku, quantity: 2, unitPriceCents: 1500 }];
  return { id, customer: "ada", bulk: null, lines, placedAt: 0 };
}

async function ordersOf(customer: string): Promise<CustomerOrders["orders"]> {
  return (await queues.env.HISTORY.getByName(customer).progress()).orders;
}

it("the flaky lamp is tried again after 2 and 4 seconds", async () => {
  await queues.queue("orders").send(orderOf("lamp"));
  await queues.advance("1m");
  const [story] = await queues.stories();
  expect(story?.events.map(({ what, delay }) => [what, delay])).toEqual([
    ["stored", undefined],
    ["delivered", undefined],
    ["retried", 2],
    ["delivered", undefined],
    ["retried", 4],
    ["delivered", undefined],
    ["acked", undefined],
  ]);
  expect(await ordersOf("ada")).toMatchObject([{ state: "charged", attempts: 3, cents: 3000 }]);
});

it("the cursed vase waits in the dead-letter queue, and its customer is told", async () => {
  await queues.queue("orders").send(orderOf("vase"));
  const { dead, errors } = await queues.runUntilIdle();
  const message = "The vase has cursed the card reader";
  expect(dead).toBe(1);
  expect(errors).toMatchObject(Array(4).fill({ name: "CursedVaseError", message }));
  expect(await queues.queue("orders").deadLetters()).toMatchObject([{ attempts: 4, to: "orders-dlq" }]);
  expect(await queues.queue("orders-dlq").messages()).toMatchObject([
    { body: { id: "o-1" }, state: "ready" },
  ]);
  expect(await ordersOf("ada")).toMatchObject([{ id: "o-1", state: "dead", attempts: 4, reason: message }]);
});

it("a cursed vase does not keep the orders beside it from their own answers", async () => {
  const skus = ["mug", "vase", "lamp"];
  await queues.queue("orders").sendBatch(skus.map((sku) => ({ body: orderOf(sku, sku) })));
  await queues.runUntilIdle();
  const attempts = (await ordersOf("ada")).map(({ id, state, attempts }) => [id, state, attempts]);
  expect(attempts.sort()).toEqual([
    ["lamp", "charged", 3],
    ["mug", "charged", 1],
    ["vase", "dead", 4],
  ]);
});

it("an order of a bulk run is given up without an error of the batch", async () => {
  await queues.queue("orders").send({ ...orderOf("vase"), bulk: "rush" });
  expect(await queues.runUntilIdle()).toMatchObject({ dead: 1, errors: [] });
});

it("a failed order waits, and those beside it do not", async () => {
  await queues.queue("orders").sendBatch([{ body: orderOf("lamp", "o-1") }, { body: orderOf("mug", "o-2") }]);
  await queues.waitFor({ queue: "orders", state: "acked", body: { id: "o-2" } }, { within: "1s" });
  expect(queues.batches("orders").map(({ messages }) => messages.length)).toEqual([2]);
  expect(await queues.queue("orders").messages()).toMatchObject([{ body: { id: "o-1" }, state: "delayed" }]);
});

it("every order is charged, with any faults", async () => {
  const spec = {
    runtime: queues,
    act: async (_: unknown, random: Random) => {
      const orders = Array.from({ length: random.integer(1, 4) }, (_, i) => orderOf("mug", `o-${i}`));
      await queues.queue("orders").sendBatch(orders.map((body) => ({ body })));
    },
    holds: async (_: unknown, stories: readonly Story[]) => {
      const orders = await ordersOf("ada");
      expect(orders.map(({ state }) => state)).toEqual(stories.map(() => "charged"));
    },
  };
  await explore({ ...spec, histories: 50 });
});
