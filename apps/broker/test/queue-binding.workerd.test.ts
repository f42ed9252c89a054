import path from "node:path";
import { bundle, startWorkerd, type WorkerdProcess } from "@sluice/protocol/test/workerd-process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/*
 * workerd's own queue binding with the broker behind it, and nothing of ours in the producer. Without Miniflare, whose
 * queues have their own broker.
 */

const ROOT = path.dirname(import.meta.dirname);
const QUEUE = (consumer: string) => `{
  deliveryDelaySeconds: 0, messageRetentionSeconds: 345600, producers: [], consumer: ${consumer},
}`;
const CONSUMER = `{ type: "worker", worker: "consumer", settings: {
  maxBatchSize: 10,
  maxBatchTimeoutSeconds: 0, maxRetries: 0, maxConcurrency: null, retryDelaySeconds: 0, deadLetterQueue: null,
} }`;
const BROKER = `
import { defineBroker } from "@sluice/broker-worker";
const queues = { orders: ${QUEUE(CONSUMER)}, kept: ${QUEUE("null")} };
const consumers = { consumer: "CONSUMER" };
const { QueueBroker, Directory, QueueBinding } = defineBroker({ topology: { queues }, consumers });
export { Directory, QueueBinding, QueueBroker };
export default {};
`;

/** Calls a method of a binding with arguments that are written as JavaScript. */
const PRODUCER = `
const bodies = {
  clone: () => ({
    when: new Date(0), map: new Map([["é", new Set([1n])]]), bytes: new Uint8Array([1, 2]), self: undefined,
  }),
  bytes: () => new Uint8Array([0, 255]),
};
const calls = {
  json: (queue) => queue.send({ a: 1 }),
  text: (queue) => queue.send("tëxt", { contentType: "text" }),
  empty: (queue) => queue.send("", { contentType: "text" }),
  bytes: (queue) => queue.send(bodies.bytes(), { contentType: "bytes" }),
  v8: (queue) => queue.send(bodies.clone(), { contentType: "v8" }),
  batch: (queue) => queue.sendBatch([
    { body: 1 },
    { body: "two", contentType: "text" },
    { body: bodies.clone(), contentType: "v8" },
    { body: bodies.bytes(), contentType: "bytes" },
  ]),
  delayed: (queue) => queue.sendBatch([{ body: "own", delaySeconds: 0 }, { body: "batch's" }], { delaySeconds: 3600 }),
  tooLarge: (queue) => queue.send("x".repeat(128_001), { contentType: "text" }),
  tooMany: (queue) => queue.sendBatch(Array.from({ length: 101 }, (_, i) => ({ body: i }))),
  tooManyBytes: (queue) =>
    queue.sendBatch(Array.from({ length: 3 }, () => ({ body: "x".repeat(90_000), contentType: "text" }))),
  tooLate: (queue) => queue.send(1, { delaySeconds: 86_401 }),
  tooLateBatch: (queue) => queue.sendBatch([{ body: 1 }], { delaySeconds: -1 }),
  nothing: (queue) => queue.send(() => {}, { contentType: "json" }),
  platform: (queue) => queue.send(new Headers({ a: "b" }), { contentType: "v8" }),
  hang: (queue) => queue.sendBatch([{ body: "hang" }, { body: "beside it" }]),
  metrics: (queue) => queue.metrics(),
};
export default {
  async fetch(request, env) {
    const [, binding, call, ...rest] = new URL(request.url).pathname.split("/");
    if (binding === "OLD") return env.OLD.fetch("http://old/" + [call, ...rest].join("/"));
    try {
      return Response.json({ result: await calls[call](env[binding]) });
    } catch (error) {
      return Response.json({ error: String(error) });
    }
  },
};
`;

const CONSUMER_WORKER = `
import { createQueueConsumer } from "@sluice/consumer";
const show = (value) => value instanceof Uint8Array ? ["bytes", ...value]
  : value instanceof Date ? ["date", value.getTime()]
  : value instanceof Map ? ["map", ...[...value].map(([k, v]) => [k, show(v)])]
  : value instanceof Set ? ["set", ...[...value].map(String)]
  : typeof value === "object" ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, show(v)]))
  : value ?? "undefined";
export const SluiceQueueConsumer = createQueueConsumer({
  queue(batch) {
    const [first] = batch.messages;
    if (first.body === "hang") {
      first.ack();
      return new Promise(() => {});
    }
    for (const { body } of batch.messages) console.log("GOT " + JSON.stringify(show(body)));
  },
}, { waitForWaitUntil: true });
export default {};
`;

const binding = (name: string, queue: string) =>
  `(name = "${name}", queue = (name = "broker", entrypoint = "QueueBinding", props = (json = ` +
  `"${JSON.stringify({ queue }).replaceAll('"', '\\"')}")))`;

let workerd: WorkerdProcess;
beforeAll(async () => {
  const queues = [binding("ORDERS", "orders"), binding("KEPT", "kept"), binding("NOBODYS", "nobodys")];
  const unnamed = '(name = "UNNAMED", queue = (name = "broker", entrypoint = "QueueBinding"))';
  workerd = await startWorkerd([
    {
      name: "producer",
      source: PRODUCER,
      bindings: [...queues, unnamed, '(name = "OLD", service = "old")'].join(", "),
    },
    {
      name: "broker",
      source: await bundle(BROKER, ROOT),
      durableObjects: ["QueueBroker", "Directory"],
      bindings: `(name = "SLUICE_QUEUES", durableObjectNamespace = "QueueBroker"),
        (name = "SLUICE_DIRECTORY", durableObjectNamespace = "Directory"),
        (name = "CONSUMER", service = (name = "consumer", entrypoint = "SluiceQueueConsumer"))`,
    },
    { name: "consumer", source: await bundle(CONSUMER_WORKER, ROOT) },
    { name: "old", source: PRODUCER, compatibilityDate: "2024-01-01", bindings: queues.join(", ") },
  ]);
});
afterAll(() => workerd[Symbol.asyncDispose]());

async function call(name: string): Promise<unknown> {
  return (await workerd.fetch(`/${name}`)).json();
}

const CLONE = '{"when":["date",0],"map":["map",["é",["set","1"]]],"bytes":["bytes",1,2],"self":"undefined"}';

describe("workerd's own queue binding on the broker", () => {
  it.each([
    ["json", ['{"a":1}']],
    ["text", ['"tëxt"']],
    ["empty", ['""']],
    ["bytes", ['["bytes",0,255]']],
    ["v8", [CLONE]],
    ["batch", ["1", '"two"', CLONE, '["bytes",0,255]']],
    // conformance: native-binding
  ])("sends and delivers: %s", async (name, bodies) => {
    const from = workerd.lines.length;
    expect(await call(`ORDERS/${name}`)).toMatchObject({
      result: {
        metadata: { metrics: { backlogCount: expect.any(Number), backlogBytes: expect.any(Number) } },
      },
    });
    for (const body of bodies) await workerd.printed(`GOT ${body}`, from);
  });

  // conformance: native-binding-without-type
  it("accepts messages of a Worker whose compatibility date allows no content type", async () => {
    const from = workerd.lines.length;
    expect(await call("OLD/ORDERS/json")).toMatchObject({ result: { metadata: {} } });
    await workerd.printed('GOT {"a":1}', from);
  });

  it("keeps what a handler acknowledged before the runtime ended it because it hung", async () => {
    const from = workerd.lines.length;
    await call("ORDERS/hang");
    await workerd.printed("QUEUE orders 1/2", from);
    await workerd.printed("Dropped message", from);
    const dropped = workerd.lines.slice(from).filter((line) => line.startsWith("Dropped message"));
    expect(dropped).toEqual([expect.stringContaining("your Worker's code had hung")]);
  });

  it("delays a batch except for the messages that name their own delay, and reports the backlog", async () => {
    expect(await call("KEPT/metrics")).toEqual({ result: { backlogCount: 0, backlogBytes: 0 } });
    await call("KEPT/delayed");
    expect(await call("KEPT/metrics")).toEqual({
      result: { backlogCount: 2, backlogBytes: 14, oldestMessageTimestamp: expect.stringMatching(/^20/) },
    });
  });

  it.each([
    ["KEPT/tooLarge", "message length of 128001 bytes exceeds limit of 128000 (10204)"],
    ["KEPT/tooMany", "batch message count of 101 exceeds limit of 100 (10206)"],
    ["KEPT/tooManyBytes", "batch size of 270000 bytes exceeds limit of 256000 (10205)"],
    ["KEPT/tooLate", "message delay of 86401 is not a whole number of seconds from 0 to 86400 (10203)"],
    ["KEPT/tooLateBatch", "batch delay of -1 is not a whole number of seconds from 0 to 86400 (10202)"],
    ["KEPT/nothing", expect.stringMatching(/content type "json" could not be decoded: .* \(10203\)$/)],
    ["KEPT/platform", expect.stringMatching(/an object of the platform, .* \(10203\)$/)],
    ["NOBODYS/json", 'Queue "nobodys" does not exist. (10104)'],
    ["NOBODYS/metrics", "The queue does not exist. (10104)"],
    ["UNNAMED/json", expect.stringMatching(/must name its queue in its properties.* \(10104\)$/)],
    // conformance: native-binding-refusals
  ])("refuses %s with its code: %s", async (name, error) => {
    const expected = typeof error === "string" ? `Error: ${error}` : error;
    expect(await call(name)).toEqual({ error: expected });
  });

  it.each([
    ["send", "tooLarge", "message length of 128001 bytes exceeds limit of 128000"],
    ["sendBatch", "tooMany", "batch message count of 101 exceeds limit of 100"],
    // conformance: native-binding, refusals-before-codes
  ])("shows the cause of a failed %s without queue_expose_error_codes", async (method, name, cause) => {
    expect(await call(`OLD/KEPT/${name}`)).toEqual({ error: `Error: Queue ${method} failed: ${cause}` });
  });
});
