import Cloudflare from "cloudflare";
import { beforeAll, describe, expect, it } from "vitest";
import { startBroker } from "./any-broker.ts";
import {
  account_id,
  client,
  clientOf,
  created,
  DEPLOYED,
  everything,
  origin,
  queues,
  RETENTION,
  refusal,
  sendOne,
  start,
} from "./cloudflare-sdk.ts";

beforeAll(start);

it("the SDK does not repeat a call after a conflict", async () => {
  await created("conflict");
  let requests = 0;
  const counting = new Cloudflare({
    baseURL: client.baseURL,
    apiToken: "any token",
    maxRetries: 2,
    fetch: (input, init) => {
      requests += 1;
      return fetch(input, init);
    },
  });
  const call = counting.queues.create({ account_id, queue_name: "conflict" });
  expect(await refusal(call)).toMatchObject({ name: "ConflictError", status: 409, code: 11009 });
  expect(requests).toBe(1);
});

describe("queues", () => {
  // conformance: api-clients, api-queue-object, api-put-and-patch
  it("are created, shown, changed and deleted", async () => {
    const queue = await queues.create({ account_id, queue_name: "life", jurisdiction: "eu" });
    expect(queue).toEqual({
      queue_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      queue_name: "life",
      created_on: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      modified_on: queue.created_on,
      producers: [],
      producers_total_count: 0,
      consumers: [],
      consumers_total_count: 0,
      settings: { delivery_delay: 0, delivery_paused: false, message_retention_period: RETENTION },
      jurisdiction: "eu",
    });
    const queue_id = queue.queue_id ?? "";
    expect(await queues.get(queue_id, { account_id })).toEqual(queue);
    const edited = await queues.edit(queue_id, { account_id, settings: { delivery_delay: 5 } });
    expect(edited.settings).toEqual({ ...queue.settings, delivery_delay: 5 });
    const again = await queues.edit(queue_id, { account_id, settings: { delivery_paused: true } });
    expect(again.settings).toEqual({ ...queue.settings, delivery_delay: 5, delivery_paused: true });
    const replaced = await queues.update(queue_id, {
      account_id,
      queue_name: "life",
      settings: { message_retention_period: 60 },
    });
    expect(replaced.settings).toEqual({ ...queue.settings, message_retention_period: 60 });
    expect(replaced.created_on).toBe(queue.created_on);
    expect(await queues.delete(queue_id, { account_id })).toMatchObject({ success: true });
    expect(await refusal(queues.get(queue_id, { account_id }))).toEqual({
      name: "NotFoundError",
      status: 404,
      code: 11000,
      message: `There is no queue with the id ${queue_id}.`,
    });
  });

  // conformance: api-queue-object
  it("are listed, configured ones with their producers, each Worker once", async () => {
    const listed = await everything(queues.list({ account_id }));
    expect(listed.find(({ queue_name }) => queue_name === "orders")).toMatchObject({
      producers: [{ type: "worker", script: "shop" }],
      producers_total_count: 1,
      consumers_total_count: 0,
    });
  });

  // conformance: api-paging
  it("are paged and found by one or several exact names", async () => {
    for (const name of ["page-1", "page-2", "page-3"]) await created(name);
    // Without the SDK, which sends each query parameter once.
    const get = async (query: string) => {
      const path = `/__sluice/client/v4/accounts/${account_id}/queues${query}`;
      return (await fetch(`${origin}${path}`)).json() as Promise<{
        result: { queue_name: string }[];
        result_info: object;
      }>;
    };
    const named = await get("?name=page-1&name=page-3&name=page&page=1");
    expect(named.result.map(({ queue_name }) => queue_name)).toEqual(["page-1", "page-3"]);
    const all = await get("");
    const second = await get("?page=2&per_page=2");
    expect(second.result).toEqual(all.result.slice(2, 4));
    const total_count = all.result.length;
    expect(second.result_info).toEqual({
      page: 2,
      per_page: 2,
      count: 2,
      total_count,
      total_pages: Math.ceil(total_count / 2),
    });
    expect((await get("?page=99")).result).toEqual([]);
    expect(await get("?page=0")).toMatchObject({ success: false, errors: [{ code: 10026 }], result: null });
  });

  it.each([
    ["a taken name", { queue_name: "orders" }, 409, 11009, /^Queue name 'orders' is already taken\. Please/],
    [
      "a bad name",
      { queue_name: "Orders" },
      400,
      11003,
      /^Invalid queue name: invalid queue name: Orders\. Must/,
    ],
    ["a name of 64", { queue_name: "a".repeat(64) }, 400, 11003, /Must match \^\[a-z0-9\]\(\[a-z0-9-\]/],
    ["no name", {}, 400, 10026, /^Invalid request body: .* at "queue_name"\.$/],
    ["another place", { queue_name: "x", jurisdiction: "mars" }, 400, 10026, /at "jurisdiction"/],
    ["a delay of -1", { queue_name: "x", settings: { delivery_delay: -1 } }, 400, 100128, /from 0 to 86400/],
    [
      "a delay of a day and 1",
      { queue_name: "x", settings: { delivery_delay: 86_401 } },
      400,
      100128,
      /delay/,
    ],
    ["59 s", { queue_name: "x", settings: { message_retention_period: 59 } }, 400, 100128, /60 to 1209600/],
    [
      "14 d 1",
      { queue_name: "x", settings: { message_retention_period: 1_209_601 } },
      400,
      100128,
      /retention/,
    ],
    // conformance: api-settings-ranges
  ])("are not created with %s", async (_what, body, status, code, text) => {
    const call = queues.create({ account_id, ...body } as Parameters<typeof queues.create>[0]);
    expect(await refusal(call)).toEqual({
      name: expect.any(String),
      status: status,
      code: code,
      message: expect.stringMatching(text),
    });
  });

  it.each([
    [0, 60],
    [1, 61],
    [86_399, 1_209_599],
    [86_400, 1_209_600],
  ])("accept a delay of %i s and a retention of %i s, also as text", async (delay, retention) => {
    const queue_id = await created(`range-${delay}`);
    const settings = { delivery_delay: delay, message_retention_period: String(retention) };
    const edited = await queues.edit(queue_id, { account_id, settings: settings as never });
    expect(edited.settings).toMatchObject({ delivery_delay: delay, message_retention_period: retention });
  });

  it("are not renamed", async () => {
    const queue_id = await created("first-name");
    const call = queues.edit(queue_id, { account_id, queue_name: "second-name" });
    expect(await refusal(call)).toMatchObject({ name: "BadRequestError", status: 400, code: 100128 });
    expect(await refusal(queues.get("first-name", { account_id }))).toEqual({
      name: "BadRequestError",
      status: 400,
      code: 10107,
      message: '"first-name" is not a queue id: those have 32 hexadecimal digits.',
    });
  });
});

// conformance: api-purge, api-metrics
it("purge and metrics empty a queue, and report the time and the backlog", async () => {
  const queue_id = await created("purged");
  expect(await queues.purge.status(queue_id, { account_id })).toEqual({});
  for (let i = 0; i < 3; i++) await sendOne(queue_id);
  const before = await queues.getMetrics(queue_id, { account_id });
  expect(before).toEqual({
    backlog_count: 3,
    backlog_bytes: 3,
    oldest_message_timestamp_ms: expect.any(Number),
  });
  expect(await refusal(queues.purge.start(queue_id, { account_id }))).toMatchObject({
    name: "BadRequestError",
    status: 400,
    code: 10026,
  });
  const purged = await queues.purge.start(queue_id, { account_id, delete_messages_permanently: true });
  expect(purged).toMatchObject({ queue_id, queue_name: "purged" });
  expect(await queues.purge.status(queue_id, { account_id })).toEqual({
    started_at: expect.stringMatching(/^\d{4}-.*Z$/),
    completed: "true",
  });
  expect(await queues.getMetrics(queue_id, { account_id })).toEqual({
    backlog_count: 0,
    backlog_bytes: 0,
    oldest_message_timestamp_ms: 0,
  });
});

describe("subscriptions", () => {
  // conformance: api-subscriptions, api-events
  it("are created, listed completely, changed and deleted", async () => {
    const queue_id = await created("events");
    const r2 = await queues.subscriptions.create({
      account_id,
      source: { type: "r2" },
      destination: { type: "queues.queue", queue_id },
      events: ["bucket.created"],
    });
    expect(r2).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      name: "events r2",
      enabled: true,
      created_at: expect.any(String),
      modified_at: r2.created_at,
      source: { type: "r2" },
      destination: { type: "queues.queue", queue_id },
      events: ["bucket.created"],
    });
    const build = await queues.subscriptions.create({
      account_id,
      name: "builds",
      enabled: false,
      source: { type: "workersBuilds.worker", worker_name: "shop" },
      destination: { type: "queues.queue", queue_id },
      events: ["build.failed", "build.succeeded"],
    });
    expect(await queues.subscriptions.get(build.id, { account_id })).toEqual(build);
    const list = (params = {}) => everything(queues.subscriptions.list({ account_id, ...params }));
    expect(await list({ per_page: 1 })).toEqual([r2, build]);
    expect(await list({ order: "name" })).toEqual([build, r2]);
    expect(await list({ order: "name", direction: "desc" })).toEqual([r2, build]);
    const changed = await queues.subscriptions.update(build.id, { account_id, enabled: true, name: "all" });
    expect(changed).toEqual({ ...build, enabled: true, name: "all", modified_at: expect.any(String) });
    const taken = queues.subscriptions.create({
      account_id,
      source: { type: "r2" },
      destination: { type: "queues.queue", queue_id },
      events: ["bucket.deleted"],
    });
    expect(await refusal(taken)).toMatchObject({ name: expect.any(String), status: 405, code: 0 });
    await queues.subscriptions.delete(r2.id, { account_id });
    expect(await list()).toEqual([changed]);
    expect(await refusal(queues.subscriptions.get(r2.id, { account_id }))).toMatchObject({
      name: "NotFoundError",
      status: 404,
    });
    await queues.delete(queue_id, { account_id });
    expect(await list()).toEqual([]);
  });

  it.each([
    ["an unknown source", { type: "moon" }, ["a"], 10026, /Unknown event source "moon"/],
    ["a source without its name", { type: "workersAi.model" }, ["batch.queued"], 10026, /"model_name"/],
    ["an unknown event", { type: "kv" }, ["bucket.created"], 0, /^Unrecognized event types/],
    ["no event", { type: "kv" }, [], 10026, /Must name an event/],
    // conformance: api-subscriptions
  ])("are refused with %s", async (_what, source, events, code, text) => {
    const queue_id = (await everything(queues.list({ account_id })))[0]?.queue_id ?? "";
    const destination = { type: "queues.queue", queue_id } as const;
    const call = queues.subscriptions.create({ account_id, source: source as never, destination, events });
    expect(await refusal(call)).toEqual({
      name: "BadRequestError",
      status: 400,
      code: code,
      message: expect.stringMatching(text),
    });
  });
});

// conformance: api-envelope
it("any other call of Cloudflare's API is answered with 7003 and its path", async () => {
  expect(await refusal(client.kv.namespaces.list({ account_id }).asResponse())).toEqual({
    name: "NotFoundError",
    status: 404,
    code: 7003,
    message: expect.stringMatching(
      /^No route for GET .*\/storage\/kv\/namespaces: this broker has the queues part/,
    ),
  });
});

// conformance: api-identity, push-without-token
it("a broker with tokens refuses a call without one", async () => {
  const { origin: url } = await startBroker({ SLUICE_API_TOKENS: "first, second" }, DEPLOYED);
  for (const token of ["first", "second"]) {
    expect(await everything(clientOf(url, token).queues.list({ account_id }))).toHaveLength(1);
  }
  expect(await refusal(clientOf(url, "third").queues.list({ account_id }).asResponse())).toEqual({
    name: "PermissionDeniedError",
    status: 403,
    code: 10000,
    message: "Authentication error",
  });
  const anonymous = await fetch(`${url}/__sluice/client/v4/accounts/a/queues`);
  expect(anonymous.status).toBe(401);
  expect((await fetch(`${url}/__sluice/api/queues`)).status).toBe(401);
  const headers = { authorization: "Bearer second" };
  expect((await fetch(`${url}/__sluice/api/queues`, { headers })).status).toBe(200);
});
