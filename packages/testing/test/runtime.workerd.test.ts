import { fileURLToPath } from "node:url";
import {
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createQueueRuntime, type QueueRuntime } from "../src/index.ts";

interface Sender {
  send(body: unknown, options?: { delaySeconds?: number }): Promise<unknown>;
}
interface Env {
  readonly ORDERS: Sender;
  readonly SLOW: Sender;
  readonly BOOK: { getByName(name: string): { lines(): Promise<string[]> } };
  readonly SEEN: { get(key: string): Promise<string | null> };
}

const ORDERS = fileURLToPath(new URL("fixtures/orders", import.meta.url));
const START = new Date("2026-01-01T00:00:00Z");

let queues: QueueRuntime<Env>;
let push: (request: Request) => Promise<Response>;
const printed: string[] = [];

beforeAll(async () => {
  queues = await createQueueRuntime<Env>({
    workers: [ORDERS],
    start: START,
    push: { hooks: (request) => push(request) },
    vars: { HOOKS_TOKEN: "test" },
    log: (line) => printed.push(line),
  });
});
beforeEach(() => queues.reset());
afterAll(() => queues[Symbol.asyncDispose]());

const at = (time: string) => new Date(`2026-01-01T${time}Z`);
const book = () => queues.env.BOOK.getByName("book").lines();

describe("the clock", () => {
  it("stands until it is moved", async () => {
    await queues.env.ORDERS.send({ id: 1 });
    expect(await queues.advance(0)).toMatchObject({ delivered: 0, nextDue: at("00:00:05") });
    expect(queues.now).toEqual(START);
    expect(await queues.advance(4.999)).toMatchObject({ delivered: 0 });
    expect(await queues.advance(0.001)).toMatchObject({ delivered: 1, acked: 1, nextDue: null });
    expect(queues.now).toEqual(at("00:00:05"));
  });

  it("passes twelve hours with each retry at its time", async () => {
    await queues.env.ORDERS.send({ id: 1, failures: 12 });
    const progress = await queues.advance("12h");
    expect(progress).toMatchObject({ delivered: 12, retried: 12, acked: 0, nextDue: at("12:01:05") });
    expect(queues.now).toEqual(at("12:00:00"));
    await queues.advance("65s");
    const [story] = await queues.stories();
    const deliveries = story?.events.filter(({ what }) => what === "delivered") ?? [];
    expect(deliveries.map(({ attempt }) => attempt)).toEqual([...Array(13).keys()].map((i) => i + 1));
    // An hour after each, and five seconds until the batch of one is complete.
    expect(deliveries.map((event) => event.at.getTime() - START.getTime())).toEqual(
      [...Array(13).keys()].map((i) => i * 3_605_000 + 5_000),
    );
    expect(story?.state).toBe("acked");
  });

  it("delivers what is due in several queues in the order of its times", async () => {
    await queues.env.SLOW.send({ id: 1 });
    await queues.env.ORDERS.send({ id: 2 }, { delaySeconds: 300 });
    await queues.env.ORDERS.send({ id: 3 }, { delaySeconds: 900 });
    await queues.advance("1h");
    expect(await book()).toEqual(["orders 2", "slow 1", "orders 3"]);
    expect(queues.batches().map((batch) => batch.at)).toEqual([
      at("00:05:05"),
      at("00:10:00"),
      at("00:15:05"),
    ]);
  });

  it("refuses an invalid duration", async () => {
    await expect(queues.advance("1 week" as never)).rejects.toThrow(TypeError);
    await expect(queues.advance(-1)).rejects.toThrow(TypeError);
  });
});

describe("runUntilIdle", () => {
  it("jumps until nothing is left to deliver, and no further", async () => {
    await queues.env.ORDERS.send({ id: 1, failures: 13 });
    const progress = await queues.runUntilIdle();
    expect(progress).toMatchObject({ delivered: 13, retried: 12, dead: 1 });
    // The dead letter stays: the end of its retention is not waited for.
    expect(queues.now).toEqual(new Date(START.getTime() + 12 * 3_605_000 + 5_000));
    expect(await queues.queue("orders").deadLetters()).toMatchObject([
      { body: { id: 1, failures: 13 }, attempts: 13, to: "orders-dead" },
    ]);
    expect(await queues.queue("orders-dead").messages()).toMatchObject([
      { body: { id: 1, failures: 13 }, state: "ready", attempts: 0 },
    ]);
    expect(await queues.queue("orders").messages()).toEqual([]);
  });

  it("stops at its limits", async () => {
    await queues.env.SLOW.send({ id: 1 });
    expect(await queues.runUntilIdle({ until: "5m" })).toMatchObject({
      delivered: 0,
      nextDue: at("00:10:00"),
    });
    await queues.env.ORDERS.send({ id: 1, failures: 12 });
    await expect(queues.runUntilIdle({ limit: 3 })).rejects.toThrow("More than 3 deliveries");
  });

  it("returns the errors of handlers, with the user's stack", async () => {
    await queues.env.SLOW.send({ id: 7, failures: 1 });
    const { errors } = await queues.runUntilIdle();
    expect(errors).toMatchObject([
      { name: "Error", message: "slow 7 is not to be had", queue: "slow", consumer: "orders" },
    ]);
    await queues.env.SLOW.send({ id: 8, failures: 1 });
    await expect(queues.runUntilIdle({ throwErrors: true })).rejects.toThrow("slow 8 is not to be had");
    expect(errors[0]?.stack).toContain("fixtures/orders/src/index.ts:");
  });
});

describe("waitFor", () => {
  it("finds a message that has matched already, and one that matches next", async () => {
    await queues.env.ORDERS.send({ id: 1, failures: 1 });
    await queues.env.ORDERS.send({ id: 2 });
    expect(await queues.waitFor({ state: "stored", body: { id: 2 } })).toMatchObject({ queue: "orders" });
    const retried = await queues.waitFor<{ id: number }>(
      { queue: "orders", state: "retried", body: ({ id }) => id === 1 },
      { within: "1m" },
    );
    expect(retried.events.at(-1)).toMatchObject({ what: "retried", attempt: 1, delay: 3_600 });
    expect(queues.now).toEqual(at("00:00:05"));
    await queues.waitFor({ state: "acked", body: { id: 1 } }, { within: "2h" });
    expect(queues.now).toEqual(at("01:00:10"));
  });

  it("waits for a request that is under way", async () => {
    const found = queues.waitFor({ state: "stored", body: { id: 5 } });
    await queues.fetch("/order?id=5");
    expect(await found).toMatchObject({ state: "stored" });
  });

  it("lists what happened instead", async () => {
    await queues.env.ORDERS.send({ id: 1 });
    const waiting = queues.waitFor({ queue: "orders", state: "dead", body: { id: 1 } }, { timeoutMs: 50 });
    await expect(waiting).rejects.toThrow(
      'No message {"id":1} of queue "orders" is dead; the next thing is due at 2026-01-01T00:00:05.000Z.\n' +
        '  orders {"id":1}: stored',
    );
  });
});

describe("a test of a runtime sees", () => {
  it("the story of a message over its queues", async () => {
    await queues.env.SLOW.send({ id: 1, failures: 9 });
    await queues.runUntilIdle();
    const [{ id } = { id: "" }] = await queues.stories();
    const story = await queues.story(id);
    expect(story).toMatchObject({ id, queue: "slow", body: { id: 1, failures: 9 }, state: "dead" });
    expect(story.events.map(({ what, attempt }) => `${what} ${attempt}`)).toEqual([
      ...["stored 0", "delivered 1", "retried 1", "delivered 2", "retried 2"],
      ...["delivered 3", "retried 3", "delivered 4", "dead 4"],
    ]);
    expect(story.events[0]).toMatchObject({ at: START, delay: 600 });
    expect(story.events.at(-1)?.error).toContain("slow 1 is not to be had");
    await expect(queues.story("nobody")).rejects.toThrow('nothing is known of a message "nobody"');
  });

  it("the story of a dead letter that is moved back", async () => {
    await queues.env.ORDERS.send({ id: 1, failures: 13 });
    await queues.runUntilIdle();
    const path = "/__sluice/api/queues/orders-dead/redrive";
    await queues.fetch(path, { method: "POST", body: JSON.stringify({ to: "orders" }) });
    await queues.advance(5);
    const stories = await queues.stories();
    expect(stories).toHaveLength(1);
    expect(stories[0]?.events.slice(-3)).toMatchObject([
      { what: "dead", queue: "orders", attempt: 13 },
      { what: "delivered", queue: "orders", attempt: 1 },
      { what: "retried", queue: "orders", attempt: 1 },
    ]);
  });

  it("batches as they were delivered", async () => {
    const bodies = Array.from({ length: 12 }, (_, id) => ({ id }));
    await queues.queue("orders").sendBatch(bodies.map((body) => ({ body })));
    await queues.runUntilIdle();
    const batches = queues.batches<{ id: number }>("orders");
    expect(batches.map(({ messages }) => messages.map(({ body }) => body.id))).toEqual([
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
      [10, 11],
    ]);
    expect(batches[0]).toMatchObject({ consumer: "orders", at: START });
    expect(queues.batches("slow")).toEqual([]);
  });

  it("bodies of every content type", async () => {
    const { send, messages } = queues.queue("pulled");
    await send("text", { contentType: "text" });
    await send(new Uint8Array([1, 2]), { contentType: "bytes" });
    await send(new Map([[1, new Date(5)]]), { contentType: "v8" });
    expect((await messages()).map(({ body }) => body)).toEqual([
      "text",
      new Uint8Array([1, 2]),
      new Map([[1, new Date(5)]]),
    ]);
  });

  it("the Workers' other bindings, and requests", async () => {
    expect(await (await queues.fetch("/order?id=3")).text()).toBe("sent");
    await queues.advance(5);
    expect(await queues.env.SEEN.get("3")).toBe("yes");
    const response = await queues.fetch(
      new Request("http://shop.example.com/", { method: "POST", body: "hi" }),
    );
    expect(await response.json()).toEqual({ host: "shop.example.com", body: "hi" });
  });
});

it("nothing from before reset()", async () => {
  await queues.env.ORDERS.send({ id: 1 });
  await queues.env.SLOW.send({ id: 2 });
  await queues.advance(5);
  expect(await book()).toEqual(["orders 1"]);
  await queues.reset();
  expect(queues.now).toEqual(START);
  expect([await book(), await queues.env.SEEN.get("1")]).toEqual([[], null]);
  expect([await queues.stories(), queues.batches(), await queues.queue("slow").messages()]).toEqual([
    [],
    [],
    [],
  ]);
  expect(await queues.advance("1d")).toMatchObject({ delivered: 0, nextDue: null });
});

describe("a queue of a runtime", () => {
  it("has one name and one shard, whatever its configuration says", async () => {
    for (const id of [1, 2, 3]) {
      await queues.fetch(`/order?id=${id}`);
      await queues.advance("1m");
    }
    const stories = await queues.stories();
    expect(stories.map(({ queue, state }) => `${queue} ${state}`)).toEqual(Array(3).fill("orders acked"));
  });

  it("answers pull consumers", async () => {
    const { send, pull, ack, messages, deadLetters } = queues.queue<{ id: number }>("pulled");
    await send({ id: 1 });
    await send({ id: 2 });
    const pulled = await pull({ batchSize: 10, visibilityTimeout: "10m" });
    expect(pulled.map(({ body, attempts }) => [body, attempts])).toEqual([
      [{ id: 1 }, 1],
      [{ id: 2 }, 1],
    ]);
    const [first, second] = pulled;
    await ack(first === undefined ? [] : [first], [{ leaseId: second?.leaseId ?? "", delaySeconds: 60 }]);
    expect(await messages()).toMatchObject([{ body: { id: 2 }, state: "delayed", dueAt: at("00:01:00") }]);
    await queues.advance("1m");
    await pull({ visibilityTimeout: 30 });
    await queues.advance(29);
    expect(await messages()).toMatchObject([{ state: "leased" }]);
    await queues.advance(1);
    await pull({ visibilityTimeout: 30 });
    await queues.advance(30);
    expect(await deadLetters()).toMatchObject([{ body: { id: 2 }, attempts: 3, to: "pulled-dead" }]);
    await expect(queues.queue("orders").pull()).rejects.toThrow();
    await expect(queues.queue("nobody").pull()).rejects.toThrow('there is no queue "nobody"');
  });

  it("answers pull consumers in a few lines", async () => {
    await queues.queue("pulled").send({ id: 1 });
    const [message] = await queues.queue("pulled").pull({ visibilityTimeout: "10m" });
    await queues.queue("pulled").ack(message === undefined ? [] : [message]);
    expect(await queues.stories()).toMatchObject([{ state: "acked" }]);
  });

  it("answers clients of SQS", async () => {
    const QueueUrl = queues.sqsUrl("pulled").href;
    const sqs = new SQSClient({
      endpoint: new URL("..", QueueUrl).href,
      region: "us-east-1",
      credentials: { accessKeyId: "anybody", secretAccessKey: "anything" },
    });
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "hello", DelaySeconds: 900 }));
    const receive = async () =>
      (await sqs.send(new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout: 60 }))).Messages?.[0];
    expect(await receive()).toBeUndefined();
    await queues.advance("15m");
    expect(await receive()).toMatchObject({ Body: "hello" });
    await queues.advance(60);
    const again = await receive();
    await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: again?.ReceiptHandle }));
    const [story] = await queues.stories();
    expect(story).toMatchObject({ body: "hello", state: "acked" });
    expect(story?.events.map(({ what }) => what)).toEqual(["stored", "delivered", "delivered", "acked"]);
    sqs.destroy();
  });

  it("calls HTTP endpoints", async () => {
    const got: string[] = [];
    push = async (request) => {
      const { url, method, headers } = request;
      const named = ["authorization", "x-shop", "sluice-attempt"].map((name) => headers.get(name));
      got.push(`${method} ${url} ${named.join(" ")} ${await request.text()}`);
      return new Response(null, { status: got.length === 1 ? 503 : 204 });
    };
    await queues.queue("hooks").send({ id: 1 });
    expect(await queues.runUntilIdle()).toMatchObject({ delivered: 2, retried: 1, acked: 1 });
    expect(got).toEqual([
      'POST https://shop.example.com/hook test HOOKS_SHOP 1 {"id":1}',
      'POST https://shop.example.com/hook test HOOKS_SHOP 2 {"id":1}',
    ]);
    expect(queues.now).toEqual(at("00:01:00"));
    push = async () => {
      throw new Error("the shop is closed");
    };
    await queues.queue("hooks").send({ id: 2 });
    expect(await queues.runUntilIdle()).toMatchObject({ delivered: 3, dead: 1 });
  });
});

describe("createQueueRuntime", () => {
  it.each([
    [{ workers: [] }, "name at least one configuration file"],
    [{ workers: ["nowhere/wrangler.toml"] }, "nowhere"],
    [{ workers: [ORDERS], push: { orders: push } }, 'queue "orders" has no HTTP endpoint'],
    [{ workers: [{ config: ORDERS, env: "a" }, ORDERS] }, "in one environment"],
    [{ workers: [ORDERS], start: new Date(Number.NaN) }, "start: a Date that is valid"],
    [{ workers: [ORDERS], start: "yesterday" }, "start: a Date that is valid"],
    [{ workers: ORDERS }, "workers: a list of configuration files"],
    [
      { workers: [ORDERS], env: "a" },
      'createQueueRuntime: there is no "env". There are "workers", "root", "start"',
    ],
    [{ workers: [{ config: ORDERS, var: {} }] }, 'there is no "var". There are "config", "env" and "vars".'],
    [{ workers: [ORDERS], timeoutMs: "1s" }, "timeoutMs: a number"],
  ])("refuses %o", async (options, message) => {
    await expect(createQueueRuntime(options as never)).rejects.toThrow(message);
  });

  it("names the existing queues when it refuses an unknown one", async () => {
    await queues.advance(1);
    const text = 'Queue "order" does not exist. There are ';
    expect(() => queues.batches("order")).toThrow(text);
    await expect(queues.queue("order").deadLetters()).rejects.toThrow(text);
    await expect(queues.waitFor({ queue: "order", state: "acked" }, { timeoutMs: 1 })).rejects.toThrow(text);
    await expect(queues.queue("order").messages()).rejects.toThrow('"order"');
    await expect(queues.queue("order").send({})).rejects.toThrow('Queue "order" does not exist. (10104)');
  });

  it("refuses arguments that TypeScript would refuse", async () => {
    await expect(queues.waitFor({ queue: "orders" } as never)).rejects.toThrow('state is one of "stored"');
    await expect(queues.waitFor(undefined as never)).rejects.toThrow('an object with "queue", "body"');
    await expect(queues.waitFor({ state: "acked" }, { timeout: 1 } as never)).rejects.toThrow('no "timeout"');
    await expect(queues.runUntilIdle({ throws: true } as never)).rejects.toThrow('there is no "throws"');
    await expect(queues.scheduled(undefined as never)).rejects.toThrow('an object with "cron"');
    await expect(queues.scheduled({} as never)).rejects.toThrow("cron is missing");
  });

  it("refuses a message that is too large in the binding's words", async () => {
    await expect(queues.queue("orders").send("x".repeat(130_000))).rejects.toThrow("128000");
  });
});
