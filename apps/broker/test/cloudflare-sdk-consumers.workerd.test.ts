import { beforeAll, expect, it } from "vitest";
import {
  account_id,
  created,
  everything,
  queues,
  refusal,
  sendOne,
  start,
  UNKNOWN_QUEUE,
} from "./cloudflare-sdk.ts";

beforeAll(start);

const settings = {
  batch_size: 7,
  max_retries: 2,
  max_wait_time_ms: 1_500,
  max_concurrency: 3,
  retry_delay: 9,
};

// conformance: api-consumers
it("consumers are created, shown, replaced and removed: one per queue", async () => {
  const queue_id = await created("consumed");
  const worker = await queues.consumers.create(queue_id, {
    account_id,
    type: "worker",
    script_name: "mailer",
    dead_letter_queue: "consumed-dead",
    settings,
  });
  const consumer_id = worker.consumer_id ?? "";
  expect(worker).toEqual({
    consumer_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    created_on: expect.any(String),
    queue_name: "consumed",
    type: "worker",
    script: "mailer",
    script_name: "mailer",
    dead_letter_queue: "consumed-dead",
    settings,
  });
  expect(await queues.consumers.get(consumer_id, { account_id, queue_id })).toEqual(worker);
  expect(await everything(queues.consumers.list(queue_id, { account_id }))).toEqual([worker]);
  const names = (await everything(queues.list({ account_id }))).map(({ queue_name }) => queue_name);
  expect(names).toContain("consumed-dead");
  const second = queues.consumers.create(queue_id, { account_id, type: "http_pull" });
  expect(await refusal(second)).toEqual({
    name: "ConflictError",
    status: 409,
    code: 11004,
    message: `Queue 'consumed' (UUID '${queue_id}') already has a consumer.`,
  });
  const pull = await queues.consumers.update(consumer_id, { account_id, queue_id, type: "http_pull" });
  expect(pull).toEqual({
    consumer_id,
    created_on: worker.created_on,
    queue_name: "consumed",
    type: "http_pull",
    dead_letter_queue: "",
    settings: { batch_size: 5, max_retries: 3, visibility_timeout_ms: 30_000, retry_delay: 0 },
  });
  expect(await queues.consumers.delete(consumer_id, { account_id, queue_id })).toMatchObject({
    success: true,
  });
  expect(await refusal(queues.consumers.get(consumer_id, { account_id, queue_id }))).toMatchObject({
    name: "NotFoundError",
    status: 404,
    code: 11006,
  });
  expect(await refusal(queues.consumers.delete(consumer_id, { account_id, queue_id }))).toMatchObject({
    name: "NotFoundError",
    status: 404,
    code: 11006,
  });
});

// conformance: api-consumers
it("consumers are created by an update that finds none", async () => {
  const queue_id = await created("put");
  const consumer_id = "c".repeat(32);
  const consumer = await queues.consumers.update(consumer_id, { account_id, queue_id, type: "http_pull" });
  expect(consumer.consumer_id).toBe(consumer_id);
  const call = queues.consumers.update("d".repeat(32), { account_id, queue_id, type: "http_pull" });
  expect(await refusal(call)).toMatchObject({ name: "ConflictError", status: 409, code: 11004 });
});

it("consumers get waiting messages as soon as they are created", async () => {
  const queue_id = await created("waiting");
  await sendOne(queue_id);
  expect(await queues.getMetrics(queue_id, { account_id })).toMatchObject({ backlog_count: 1 });
  await queues.consumers.create(queue_id, {
    account_id,
    type: "worker",
    script_name: "mailer",
    settings: { max_wait_time_ms: 0 },
  });
  await expect.poll(async () => (await queues.getMetrics(queue_id, { account_id })).backlog_count).toBe(0);
});

it.each([
  ["batch_size", 1, 100],
  ["max_retries", 0, 100],
  ["max_wait_time_ms", 0, 60_000],
  ["max_concurrency", 1, 250],
  ["retry_delay", 0, 86_400],
  ["visibility_timeout_ms", 0, 43_200_000],
  // conformance: api-settings-ranges
])("consumers accept %s from %i to %i", async (setting, min, max) => {
  const queue_id = await created(`limits-${setting.replaceAll("_", "-")}`);
  const consumer_id = "a".repeat(32);
  const put = (value: number) => {
    const type = setting === "visibility_timeout_ms" ? "http_pull" : "worker";
    const body = { account_id, queue_id, type, script_name: "mailer", settings: { [setting]: value } };
    return queues.consumers.update(consumer_id, body as Parameters<typeof queues.consumers.update>[1]);
  };
  for (const value of [min, max]) {
    expect((await put(value)).settings).toMatchObject({ [setting]: value });
  }
  for (const value of [min - 1, max + 1]) {
    expect(await refusal(put(value))).toEqual({
      name: "BadRequestError",
      status: 400,
      code: 100127,
      message: `The consumer settings are invalid: Must be a whole number from ${min} to ${max} at "${setting}".`,
    });
  }
});

it("consumers cannot send dead letters in a circle", async () => {
  const first = await created("circle-1");
  const second = await created("circle-2");
  const add = (queue_id: string, dead_letter_queue: string) =>
    queues.consumers.create(queue_id, { account_id, type: "http_pull", dead_letter_queue });
  expect(await refusal(add(first, "circle-1"))).toEqual({
    name: "BadRequestError",
    status: 400,
    code: 100127,
    message: "The dead-letter queue of queue 'circle-1' cannot be itself.",
  });
  await add(first, "circle-2");
  expect(await refusal(add(second, "circle-1"))).toEqual({
    name: "BadRequestError",
    status: 400,
    code: 100127,
    message: "Dead letters would go in a circle: 'circle-2' -> 'circle-1' -> 'circle-2'.",
  });
  expect(await refusal(add(second, "Not A Name"))).toMatchObject({
    name: "BadRequestError",
    status: 400,
    code: 11003,
  });
});

it("consumers are refused for a queue that does not exist", async () => {
  const call = queues.consumers.create(UNKNOWN_QUEUE, { account_id, type: "http_pull" });
  expect(await refusal(call)).toMatchObject({ name: "NotFoundError", status: 404, code: 11000 });
});
