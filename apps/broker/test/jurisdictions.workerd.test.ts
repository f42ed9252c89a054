import type { Miniflare } from "miniflare";
import { beforeAll, describe, expect, it } from "vitest";
import { startBrokerWorker } from "./broker-worker.ts";
import { FAILING, placedEntry } from "./placed-broker.ts";

const BASE = "http://localhost";
let broker: Miniflare;

interface Shown {
  readonly queue_id: string;
  readonly jurisdiction?: string;
}

/** Calls Cloudflare's API. */
async function call<Result>(method: string, path: string, body?: object) {
  const response = await broker.dispatchFetch(`${BASE}/__sluice/client/v4/accounts/a/queues${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: { authorization: "Bearer secret", "content-type": "application/json" },
  });
  return {
    status: response.status,
    ...((await response.json()) as { result: Result; errors: { code: number }[] }),
  };
}

const create = (queue_name: string, jurisdiction?: string) =>
  call<Shown>("POST", "", { queue_name, ...(jurisdiction === undefined ? {} : { jurisdiction }) });

async function admin(path: string, body?: object): Promise<unknown> {
  const response = await broker.dispatchFetch(`${BASE}/__sluice/api${path}`, {
    method: body === undefined ? "GET" : "POST",
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: { authorization: "Bearer secret" },
  });
  return response.json();
}

async function made(): Promise<unknown> {
  return (await broker.dispatchFetch(`${BASE}/made`)).json();
}

const send = async (way = "/send") => (await broker.dispatchFetch(BASE + way)).text();

describe("on a platform with jurisdictions", () => {
  beforeAll(async () => {
    const keep = { disposeWith: () => {}, consumer: FAILING };
    broker = await startBrokerWorker(placedEntry({ queues: {} }), { SLUICE_API_TOKENS: "secret" }, keep);
    return () => broker.dispose();
  });

  it("a queue's object, and that of its dead letters, are made in its jurisdiction and nowhere else", async () => {
    const { result } = await create("orders", "eu");
    const settings = { max_retries: 0, batch_size: 1 };
    const consumer = { type: "worker", script_name: "consumer", dead_letter_queue: "dead", settings };
    expect((await call("POST", `/${result.queue_id}/consumers`, consumer)).status).toBe(200);
    expect(await send()).toBe("sent");
    await expect.poll(() => admin("/queues/dead")).toMatchObject({ messages: { ready: 1 } });
    expect(await made()).toEqual(["eu/dead", "eu/orders"]);
  });

  it("messages are not moved out of it", async () => {
    await create("plain");
    await admin("/queues/dead/redrive", { to: "plain" });
    await expect
      .poll(() => admin("/queues/dead/redrive"))
      .not.toMatchObject({ tasks: [{ status: "running" }] });
    expect(await admin("/queues/dead")).toMatchObject({ messages: { ready: 1 } });
    expect(await admin("/queues/plain")).toMatchObject({ messages: { ready: 0 } });
  });

  it.each([
    ["a queue with one to a queue without", "eu", undefined],
    ["a queue without to a queue with one", undefined, "eu"],
    ["a queue with one to a queue with another", "eu", "us"],
  ])("dead letters do not go from %s", async (title, from, to) => {
    const { result } = await create(`from-${title.length}-${from}-${to}`, from);
    const target = `to-${from}-${to}`;
    await create(target, to);
    const consumer = { type: "http_pull", dead_letter_queue: target };
    const refused = await call("POST", `/${result.queue_id}/consumers`, consumer);
    expect(refused).toMatchObject({
      status: 400,
      errors: [{ message: expect.stringContaining("jurisdiction") }],
    });
  });

  it("a Worker from before that does not ask where a queue is has its message refused", async () => {
    expect(await send("/send-old")).toContain("Error");
    expect(await admin("/queues/orders")).toMatchObject({ messages: { ready: 0, delayed: 0, leased: 0 } });
  });

  it("a queue that is deleted and created in another one is found there", async () => {
    const { result } = await call<Shown[]>("GET", "?name=orders");
    await call("DELETE", `/${result[0]?.queue_id}`);
    await expect.poll(async () => (await create("orders", "us")).status).toBe(200);
    expect(await send()).toBe("sent");
    await expect.poll(() => admin("/queues/orders")).toMatchObject({ messages: { ready: 1 } });
    expect(await made()).toContain("us/orders");
  });
});
