import type { Miniflare } from "miniflare";
import { beforeAll, describe, expect, it } from "vitest";
import { startBrokerWorker } from "./broker-worker.ts";

/**
 * A broker on a platform with jurisdictions, which workerd has none of: an object of one is called by it and its queue.
 * `/made` lists the objects that were made, `/send` sends as a Worker's binding does, `/send-old` as that of a Worker
 * from before jurisdictions held.
 */
const ENTRY = `
import { defineBroker } from "@sluice/broker-worker";
import { installProducers } from "../../packages/producer/src/index.ts";
import { workersHost } from "../../packages/broker/src/platform/host.ts";

const made = new Set();
const within = (namespace, place = "") => ({
  idFromName: (name) => namespace.idFromName(place + name),
  get: (id) => namespace.get(id),
  getByName: (name) => namespace.getByName(place + name),
  jurisdiction: (next) => within(namespace, next + "/"),
});
const placed = (env) => ({ ...env, SLUICE_QUEUES: within(env.SLUICE_QUEUES) });
const hosts = workersHost();
const hostOf = (ctx, env) => {
  const { name } = ctx.id;
  made.add(name);
  const id = { name: name.split("/").at(-1), toString: () => ctx.id.toString() };
  return { ...hosts(ctx, placed(env)), id };
};
const consumers = { consumer: "CONSUMER" };
const broker = defineBroker({ topology: { queues: {} }, consumers, hostOf });
export const { Directory, QueueBroker } = broker;
export default {
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    if (pathname === "/made") return Response.json([...made].filter((name) => name !== "directory").sort());
    if (!pathname.startsWith("/send")) return broker.handler.fetch(request, placed(env), ctx);
    const bindings = { ...placed(env), ORDERS: null };
    installProducers(bindings, [{ binding: "ORDERS", queue: "orders" }], {
      namespaceBinding: "SLUICE_QUEUES",
      directoryBinding: pathname === "/send" ? "SLUICE_DIRECTORY" : undefined,
      exposeErrorCodes: true,
      defaultContentType: "json",
    });
    try {
      await bindings.ORDERS.send("secret");
      return new Response("sent");
    } catch (error) {
      return new Response(String(error), { status: 500 });
    }
  },
};
`;

/** A consumer Worker whose every delivery fails. */
const FAILING = `
import { WorkerEntrypoint } from "cloudflare:workers";
export class SluiceQueueConsumer extends WorkerEntrypoint {
  async deliver() {
    return { outcome: "exception", ackAll: false, retryBatch: { retry: false }, explicitAcks: [], retryMessages: [] };
  }
  async callsOf() { return null; }
  async ping() { return "pong"; }
}
export default { fetch: () => new Response("consumer") };
`;

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
    broker = await startBrokerWorker(ENTRY, { SLUICE_API_TOKENS: "secret" }, keep);
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
