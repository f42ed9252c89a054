import type { Miniflare } from "miniflare";
import { describe, expect, it } from "vitest";
import { startBrokerWorker as start } from "./broker-worker.ts";

const API = "http://localhost/__sluice/api";

/** Module that `sluice build` generates for a project with these queues. */
const ENTRY = `
import { defineBroker } from "@sluice/broker-worker";
const queue = { deliveryDelaySeconds: 0, messageRetentionSeconds: 345600, producers: [], consumer: null };
const topology = { queues: { orders: queue, dead: queue } };
const { QueueBroker, Directory, handler } = defineBroker({ topology, consumers: {} });
export { Directory, QueueBroker };
export default handler;
`;

async function get(broker: Miniflare, url: string): Promise<unknown> {
  return (await broker.dispatchFetch(url)).json();
}

function moveClock(broker: Miniflare, advanceMs: number, headers: Record<string, string> = {}) {
  return broker.dispatchFetch(`${API}/clock`, {
    method: "POST",
    body: JSON.stringify({ advanceMs }),
    headers,
  });
}

/** Makes a packed message without a body, as a producer sends it. */
async function sendOne(broker: Miniflare, queue: string, delaySeconds: number): Promise<void> {
  const namespace = await broker.getDurableObjectNamespace("SLUICE_QUEUES", "broker");
  const object = namespace.get(namespace.idFromName(queue)) as unknown as {
    send(queue: string, requests: readonly object[]): Promise<{ ok: boolean }>;
  };
  expect(await object.send(queue, [{ packed: new Uint8Array(40), delaySeconds }])).toMatchObject({
    ok: true,
  });
}

describe("the broker Worker of a project", () => {
  it("shows its queues, and moves the clock of all of them in development", async () => {
    const broker = await start(ENTRY, { SLUICE_ENV: "development" });
    expect(await get(broker, "http://localhost/__sluice/health")).toEqual({ status: "ok", queues: 2 });
    for (const queue of ["orders", "dead"]) await sendOne(broker, queue, 3_600);
    const delayed = { messages: { ready: 0, delayed: 1, leased: 0 } };
    expect(await get(broker, `${API}/queues`)).toMatchObject({
      queues: [
        { name: "dead", ...delayed },
        { name: "orders", ...delayed },
      ],
    });
    expect((await moveClock(broker, 3_600_000)).status).toBe(200);
    const ready = { messages: { ready: 1, delayed: 0, leased: 0 } };
    expect(await get(broker, `${API}/queues`)).toMatchObject({ queues: [ready, ready] });
  });

  it("refuses to move the clock for a page of another origin", async () => {
    const broker = await start(ENTRY, { SLUICE_ENV: "development" });
    const { origin } = await broker.ready;
    const own = await broker.dispatchFetch(`${origin}/__sluice/api/clock`, {
      method: "POST",
      body: '{"advanceMs": 1}',
      headers: { origin },
    });
    expect(own.status).toBe(200);
    const other = await moveClock(broker, 1, { origin: "https://evil.example" });
    expect(other.status).toBe(403);
    expect(await other.json()).toMatchObject({ error: { code: "other_origin" } });
  });

  it("does not move the clock of a deployed broker", async () => {
    const broker = await start(ENTRY, { SLUICE_API_TOKENS: "secret" });
    const response = await moveClock(broker, 1, { authorization: "Bearer secret" });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ error: { code: "not_in_production" } });
  });

  it("keeps the HTTP APIs of a deployed broker closed until it has tokens, and names the setting", async () => {
    const closed = await start(ENTRY, {});
    for (const path of ["/__sluice/api/queues", "/__sluice/client/v4/accounts/any/queues"]) {
      const response = await closed.dispatchFetch(`http://localhost${path}`);
      expect(response.status).toBe(403);
      expect(await response.text()).toContain("wrangler secret put SLUICE_API_TOKENS");
    }
    expect((await closed.dispatchFetch("http://localhost/__sluice/health")).status).toBe(200);
    // This broker was built without the page, and says so.
    expect((await closed.dispatchFetch("http://localhost/__sluice/")).status).toBe(503);
  });
});

it("the broker Worker on its own runs without a queue", async () => {
  const entry = 'export { default, Directory, QueueBroker } from "./src/index.ts";';
  const broker = await start(entry, { SLUICE_ENV: "local" });
  expect(await get(broker, "http://localhost/__sluice/health")).toEqual({ status: "ok", queues: 0 });
  expect(await get(broker, `${API}/queues`)).toMatchObject({ queues: [] });
});
