import path from "node:path";
import { consumer, definition, pullConsumer } from "@sluice/broker/testing/messages";
import { bundle, startWorkerd, type WorkerdProcess } from "@sluice/protocol/test/workerd-process";
import Cloudflare from "cloudflare";
import { afterAll, beforeAll, expect, it } from "vitest";

/*
 * Messages over HTTP, from and to Workers: Cloudflare's own SDK and plain requests on one side, workerd's queue binding
 * and a Worker's `queue()` on the other.
 */

const ROOT = path.dirname(import.meta.dirname);
const account_id = "any-account";

const pulled = (deadLetterQueue: string | null) =>
  definition({ consumer: pullConsumer({ maxRetries: 1, deadLetterQueue }) });
const QUEUES = {
  bodies: pulled(null),
  pulled: pulled("dead"),
  dead: pulled(null),
  handled: definition({ consumer: consumer({ maxBatchTimeoutSeconds: 0, maxRetries: 0 }) }),
  unconsumed: definition(),
};

const BROKER = `
import { defineBroker } from "@sluice/broker-worker";
const topology = { queues: ${JSON.stringify(QUEUES)} };
const consumers = { consumer: "CONSUMER" };
const { QueueBroker, Directory, QueueBinding, handler } = defineBroker({ topology, consumers });
export { Directory, QueueBinding, QueueBroker };
export default handler;
`;
const FRONT = `
export default {
  async fetch(request, env) {
    if (new URL(request.url).pathname !== "/send") return env.BROKER.fetch(request);
    await env.BODIES.sendBatch([
      { body: "tëxt", contentType: "text" },
      { body: { ü: [1] }, contentType: "json" },
      { body: new Uint8Array([0, 255]), contentType: "bytes" },
      { body: new Map([["a", 1n]]), contentType: "v8" },
    ]);
    return new Response("sent");
  },
};
`;
const CONSUMER = `
import { createQueueConsumer } from "@sluice/consumer";
export const SluiceQueueConsumer = createQueueConsumer({
  queue({ messages }) {
    for (const { body, attempts } of messages) console.log("GOT " + JSON.stringify({ body, attempts }));
  },
}, { waitForWaitUntil: true });
export default {};
`;

let workerd: WorkerdProcess;
let queues: Cloudflare["queues"];
const ids = new Map<string, string>();

beforeAll(async () => {
  workerd = await startWorkerd([
    {
      name: "front",
      source: FRONT,
      bindings: `(name = "BROKER", service = "broker"),
        (name = "BODIES", queue = (
          name = "broker", entrypoint = "QueueBinding", props = (json = "{\\"queue\\": \\"bodies\\"}")))`,
    },
    {
      name: "broker",
      source: await bundle(BROKER, ROOT),
      durableObjects: ["QueueBroker", "Directory"],
      bindings: `(name = "SLUICE_QUEUES", durableObjectNamespace = "QueueBroker"),
        (name = "SLUICE_DIRECTORY", durableObjectNamespace = "Directory"),
        (name = "SLUICE_ENV", text = "development"),
        (name = "CONSUMER", service = (name = "consumer", entrypoint = "SluiceQueueConsumer"))`,
    },
    { name: "consumer", source: await bundle(CONSUMER, ROOT) },
  ]);
  const client = new Cloudflare({
    apiToken: "any token",
    baseURL: "http://broker/__sluice/client/v4",
    fetch: (url, init) => workerd.fetch(new URL(String(url)).pathname, init),
    maxRetries: 0,
  });
  ({ queues } = client);
  for await (const { queue_name, queue_id } of queues.list({ account_id })) {
    ids.set(queue_name ?? "", queue_id ?? "");
  }
});
afterAll(() => workerd[Symbol.asyncDispose]());

/** Returns the id of a queue of the configuration. */
function idOf(name: string): string {
  const id = ids.get(name);
  if (id === undefined) throw new Error(`no queue "${name}" is listed`);
  return id;
}

/** Pulls everything from a queue, up to 100 messages. */
async function pulledFrom(name: string) {
  const { messages = [] } = await queues.messages.pull(idOf(name), { account_id, batch_size: 100 });
  return messages.map(({ lease_id = "", ...rest }) => ({ lease_id, ...rest }));
}

const acksOf = (messages: readonly { lease_id: string }[]) => messages.map(({ lease_id }) => ({ lease_id }));

async function pass(advanceMs: number): Promise<void> {
  const init = { method: "POST", body: JSON.stringify({ advanceMs }) };
  expect((await workerd.fetch("/__sluice/api/clock", init)).status).toBe(200);
}

/** Returns status, code and text of the refusal of a plain request. */
async function refusal(name: string, call: string, body: string) {
  const id = ids.get(name) ?? name;
  const at = `/__sluice/client/v4/accounts/${account_id}/queues/${id}/messages${call}`;
  const response = await workerd.fetch(at, { method: "POST", body });
  const answer = (await response.json()) as { success: boolean; errors: { code: number; message: string }[] };
  expect(answer.success).toBe(false);
  return [response.status, answer.errors[0]?.code, answer.errors[0]?.message];
}

it("messages over HTTP (spec cloudflare-queues 5) come from a Worker's binding with every content type: text as it is, the others in base64", async () => {
  expect(await (await workerd.fetch("/send")).text()).toBe("sent");
  const messages = await pulledFrom("bodies");
  expect(messages).toMatchObject([
    { body: "tëxt", metadata: { "CF-Content-Type": "text" }, attempts: 1 },
    { body: btoa('{"Ã¼":[1]}'), metadata: { "CF-Content-Type": "json" } },
    { body: "AP8=", metadata: { "CF-Content-Type": "bytes" } },
    { body: expect.stringMatching(/^\/w[\w+/]+=*$/), metadata: { "CF-Content-Type": "v8" } },
  ]);
  expect(Math.abs((messages[0]?.timestamp_ms ?? 0) - Date.now())).toBeLessThan(60_000);
  expect(await queues.messages.ack(idOf("bodies"), { account_id, acks: acksOf(messages) })).toEqual({
    ackCount: 4,
    retryCount: 0,
    warnings: {},
  });
});

it("messages over HTTP (spec cloudflare-queues 5) reach a Worker's queue() with the types that were pushed", async () => {
  const pushed = await queues.messages.push(idOf("handled"), { account_id, body: { order: 7 } });
  expect(pushed.metadata?.metrics).toMatchObject({ backlog_count: expect.any(Number) });
  await workerd.printed('GOT {"body":{"order":7},"attempts":1}');
  await queues.messages.bulkPush(idOf("handled"), {
    account_id,
    messages: [
      { body: "plain", content_type: "text" },
      { body: [1, "ü"], content_type: "json" },
    ],
  });
  await workerd.printed('GOT {"body":"plain","attempts":1}');
  await workerd.printed('GOT {"body":[1,"ü"],"attempts":1}');
});

it("messages over HTTP (spec cloudflare-queues 5) are delayed, looked at and deleted by Cloudflare's SDK", async () => {
  const id = idOf("unconsumed");
  await queues.messages.bulkPush(id, {
    account_id,
    messages: [
      { body: "later", content_type: "text" },
      { body: "at once", content_type: "text", delay_seconds: 0 },
    ],
    delay_seconds: 3_600,
  });
  const { messages = [] } = await queues.messages.peek(id, { account_id });
  expect(messages).toMatchObject([
    { body: "at once", attempts: 0, metadata: { "CF-Content-Type": "text" } },
    { body: "later", attempts: 0 },
  ]);
  const refs = messages.map(({ ref = "" }) => ({ ref }));
  expect(await queues.messages.purge(id, { account_id, refs: refs.slice(1) })).toEqual({
    errors: [],
    warnings: {},
  });
  const again = await queues.messages.purge(id, { account_id, refs });
  expect(again.warnings).toEqual({
    [refs[1]?.ref ?? ""]: expect.stringContaining("not in the queue any more"),
  });
  expect(await queues.messages.peek(id, { account_id })).toEqual({ messages: [] });
});

it("messages over HTTP (spec cloudflare-queues 5) are retried, settled late and dead-lettered by their lease ids", async () => {
  const id = idOf("pulled");
  const bodies = ["late", "retried", "lapsed"];
  await queues.messages.bulkPush(id, {
    account_id,
    messages: bodies.map((body) => ({ body, content_type: "text" })),
  });
  const first = await pulledFrom("pulled");
  expect(first).toMatchObject(bodies.map((body) => ({ body, attempts: 1 })));
  expect(await pulledFrom("pulled")).toEqual([]);
  const [late, retried] = acksOf(first);
  if (late === undefined || retried === undefined) throw new Error("two messages were pulled");
  const settled = await queues.messages.ack(id, {
    account_id,
    acks: [{ lease_id: "made up" }],
    retries: [{ ...retried, delay_seconds: 60 }],
  });
  expect(settled).toEqual({
    ackCount: 0,
    retryCount: 1,
    warnings: { "made up": "This is not a lease id of this queue." },
  });
  await pass(30_000);
  const second = await pulledFrom("pulled");
  expect(second).toMatchObject([
    { body: "late", attempts: 2 },
    { body: "lapsed", attempts: 2 },
  ]);
  expect(second.map(({ lease_id }) => lease_id)).not.toContain(late.lease_id);
  // Uses the lease that has ended, while the other one is valid.
  expect(await queues.messages.ack(id, { account_id, acks: [late] })).toMatchObject({
    ackCount: 1,
    warnings: {},
  });
  await pass(30_000);
  expect(await pulledFrom("pulled")).toMatchObject([{ body: "retried", attempts: 2 }]);
  await pass(30_000);
  await expect
    .poll(() => queues.messages.peek(idOf("dead"), { account_id }))
    .toMatchObject({ messages: [{ body: "lapsed" }, { body: "retried" }] });
  expect(await queues.getMetrics(id, { account_id })).toMatchObject({ backlog_count: 0 });
});

it("messages over HTTP (spec cloudflare-queues 5) are refused in the words of the API", async () => {
  const notPulled = "messages cannot be pulled unless http_pull mode is enabled";
  expect(await refusal("handled", "/pull", "{}")).toEqual([405, 0, notPulled]);
  expect(await refusal("unconsumed", "/pull", "")).toEqual([405, 0, notPulled]);
  await queues.edit(idOf("bodies"), { account_id, settings: { delivery_paused: true } });
  expect(await refusal("bodies", "/pull", "{}")).toEqual([409, 0, "queue_delivery_paused"]);
  expect(await refusal("bodies", "", '{"body": "x"}')).toEqual([
    400,
    10207,
    'Expected object, received string at "body"',
  ]);
  expect(await refusal("bodies", "", "{")).toMatchObject([400, 10208, expect.stringContaining("not JSON")]);
  expect(await refusal("bodies", "/batch", '{"messages": []}')).toMatchObject([
    413,
    10206,
    expect.any(String),
  ]);
  expect(await refusal("f".repeat(32), "/pull", "{}")).toMatchObject([404, 10104, expect.any(String)]);
  expect(await refusal("no-id", "/pull", "{}")).toMatchObject([400, 10107, expect.any(String)]);
});
