import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startWranglerDev, type WranglerDev } from "./wrangler.ts";

/** Limit for the slowest order, the dead letter: four deliveries, each after two seconds and the time of a batch. */
const SETTLED_WITHIN_MS = 40_000;
const POLL_EVERY_MS = 200;

let dev: WranglerDev;

beforeAll(async () => {
  dev = await startWranglerDev(["shop-producer", "shop-consumer"]);
});

afterAll(async () => {
  await dev?.stop();
});

interface CustomerOrders {
  readonly orders: readonly { readonly id: string; readonly state: string; readonly attempts: number }[];
  readonly bulks: readonly { readonly id: string; readonly charged: number; readonly dead: number }[];
}

async function post(path: string, body: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${dev.origin}${path}`, { method: "POST", body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function order(customer: string, sku: string): Promise<void> {
  const { status } = await post("/api/orders", { customer, items: [{ sku, quantity: 1 }] });
  expect(status).toBe(202);
}

/** Asks until `reached` returns true, and returns the last answer. */
function until(customer: string, reached: (orders: CustomerOrders) => boolean): Promise<CustomerOrders> {
  const ask = async () => {
    const response = await fetch(`${dev.origin}/api/orders?customer=${customer}`);
    const orders = (await response.json()) as CustomerOrders;
    expect(orders).toSatisfy(reached);
    return orders;
  };
  return vi.waitFor(ask, { timeout: SETTLED_WITHIN_MS, interval: POLL_EVERY_MS });
}

describe.concurrent("the shop under plain wrangler dev", () => {
  it("serves the page", async () => {
    const response = await fetch(`${dev.origin}/`);
    expect(response.headers.get("content-type")).toMatch(/^text\/html/);
    expect(await response.text()).toContain("<title>");
  });

  it("charges an order at its first attempt", async () => {
    await order("mug-customer", "mug");
    const { orders } = await until("mug-customer", ({ orders }) => orders[0]?.state === "charged");
    expect(orders).toMatchObject([{ state: "charged", attempts: 1, cents: 1800 }]);
  });

  it("charges the flaky lamp at its third attempt", async () => {
    await order("lamp-customer", "lamp");
    const { orders } = await until("lamp-customer", ({ orders }) => orders[0]?.state === "charged");
    expect(orders).toMatchObject([{ state: "charged", attempts: 3, cents: 5900 }]);
  });

  it("moves the cursed vase to the dead-letter queue after three retries", async () => {
    await order("vase-customer", "vase");
    const { orders } = await until("vase-customer", ({ orders }) => orders[0]?.state === "dead");
    expect(orders).toMatchObject([
      { state: "dead", attempts: 4, reason: "The vase has cursed the card reader" },
    ]);
  });

  it("tells a follower of each change, in one request", async () => {
    const stop = new AbortController();
    const live = await fetch(`${dev.origin}/api/orders/live?customer=followed-customer`, {
      signal: stop.signal,
    });
    expect(live.headers.get("content-type")).toBe("text/event-stream");
    const states: (string | undefined)[] = [];
    const text = live.body?.pipeThrough(new TextDecoderStream()) ?? new ReadableStream<string>();
    for await (const part of text) {
      for (const [, data = ""] of part.matchAll(/^data: (.*)$/gm)) {
        states.push((JSON.parse(data) as CustomerOrders).orders[0]?.state);
      }
      if (states.length === 1) await order("followed-customer", "lamp");
      if (states.at(-1) === "charged") break;
    }
    stop.abort();
    expect(states).toEqual([undefined, "retrying", "retrying", "charged"]);
  });

  it("settles every order of a bulk run", async () => {
    const { status, body } = await post("/api/orders/bulk?count=250", { customer: "bulk-customer" });
    expect(status).toBe(202);
    expect(body).toMatchObject({ bulk: { count: 250 } });
    const { bulks } = await until(
      "bulk-customer",
      ({ bulks }) => (bulks[0]?.charged ?? 0) + (bulks[0]?.dead ?? 0) === 250,
    );
    // One order in a hundred is for the vase. A kite may fail four times in a row as well.
    expect(bulks[0]?.dead).toBeGreaterThanOrEqual(3);
  });

  it("delays an order", async () => {
    const placedAt = Date.now();
    await post("/api/orders", {
      customer: "late-customer",
      items: [{ sku: "mug", quantity: 1 }],
      delaySeconds: 4,
    });
    await until("late-customer", ({ orders }) => orders[0]?.state === "charged");
    expect(Date.now() - placedAt).toBeGreaterThanOrEqual(4000);
  });

  it("answers a bad order with 400 and says what is wrong", async () => {
    expect(await post("/api/orders", { items: [{ sku: "mug", quantity: 0 }] })).toEqual({
      status: 400,
      body: { error: "items[0].quantity must be a whole number from 1 to 10" },
    });
    expect(await post("/api/orders/bulk?count=0", {})).toMatchObject({ status: 400 });
  });

  it("answers a path that it does not know with 404", async () => {
    expect(await post("/api/orders/1", {})).toMatchObject({ status: 404 });
  });
});
