import { decodeAttributes, encodeAttributes } from "@sluice/aws";
import { type LookedAt, MESSAGE_BYTES_MAX, PackedIndex, type SendRequest } from "@sluice/protocol";
import { describe, expect, it, vi } from "vitest";
import { DEAD, directoryOf, OPEN, ORDERS, queueWith } from "../../../test/directory.ts";
import { createGateway, type QueueDirectory } from "../../index.ts";

const API = "http://localhost:8787/__sluice/api";
const ID = "0123456789abcdef0123456789abcdef";

type Able = Parameters<typeof queueWith>[0];

const lookedAt = (changes: Partial<LookedAt> = {}): LookedAt => ({
  id: ID,
  ref: "the-ref",
  state: "delayed",
  attempts: 1,
  sentMs: 1,
  atMs: 1,
  keptUntilMs: 2,
  contentType: "json",
  bodyBytes: 0,
  body: new TextEncoder().encode('{"a":1}'),
  group: null,
  attributes: null,
  from: null,
  why: { reason: "paused", text: "Paused.", untilMs: null, by: null },
  ...changes,
});

/** A directory whose queues have one message, and what is sent to them: [queue, message]. */
function withMessage(able: Able = {}, message: LookedAt | null = lookedAt()) {
  const sent: [queue: string, index: PackedIndex][] = [];
  const reply = {
    ok: true,
    metrics: { backlogCount: 1, backlogBytes: 1, oldestMessageTimestampMs: 1 },
  } as const;
  const queue = (name: string) =>
    queueWith({
      look: async () => {
        const messages = message === null ? [] : [message];
        return { messages, matched: messages.length, cursor: null, searched: 1, of: 1 };
      },
      send: async (_queue: string, requests: readonly SendRequest[]) => {
        for (const { packed } of requests) sent.push([name, new PackedIndex(packed)]);
        return reply;
      },
      enqueue: async (_queue, { packed }) => {
        sent.push([`${name} as SQS`, new PackedIndex(packed)]);
        return { ok: true, messages: null };
      },
      ...able,
    });
  const directory: QueueDirectory = { ...directoryOf(), queue };
  return { directory, sent };
}

async function ask(directory: QueueDirectory, method: string, path: string, body?: unknown) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const init = { method, ...(body === undefined ? {} : { body: text }) };
  const response = await createGateway(directory, OPEN).request(`${API}${path}`, init);
  return { status: response.status, body: await response.json() };
}

const textOf = (index: PackedIndex) => new TextDecoder().decode(index.body(0));

describe("DELETE /queues/NAME/messages/ID", () => {
  it("deletes the message by its ref", async () => {
    const deleteByRefs = vi.fn(async () => ({ deleted: 1, warnings: [] }));
    const { directory } = withMessage({ deleteByRefs });
    expect(await ask(directory, "DELETE", `/queues/orders/messages/${ID}`)).toEqual({
      status: 200,
      body: { id: ID, deleted: true },
    });
    expect(deleteByRefs).toHaveBeenCalledExactlyOnceWith("orders", ["the-ref"]);
  });

  it("answers 404 for one that is not there, or goes at that moment", async () => {
    const gone = { status: 404, body: { error: { code: "message_not_found" } } };
    const path = `/queues/orders/messages/${ID}`;
    expect(await ask(withMessage({}, null).directory, "DELETE", path)).toMatchObject(gone);
    const deleteByRefs = async () => ({ deleted: 0, warnings: [] });
    expect(await ask(withMessage({ deleteByRefs }).directory, "DELETE", path)).toMatchObject(gone);
  });
});

describe("POST /queues/NAME/messages/ID/retry", () => {
  it.each([
    ["due", 200, { id: ID, wasDue: false }],
    ["wasDue", 200, { id: ID, wasDue: true }],
    ["gone", 404, { error: { code: "message_not_found" } }],
  ] as const)("of one that is %s is answered with %i", async (outcome, status, body) => {
    const makeDue = vi.fn(async () => [outcome]);
    const { directory } = withMessage({ makeDue });
    const answer = await ask(directory, "POST", `/queues/orders/messages/${ID}/retry`);
    expect(answer).toMatchObject({ status, body });
    expect(makeDue).toHaveBeenCalledExactlyOnceWith("orders", ["the-ref"]);
  });
});

describe("POST /queues/NAME/messages", () => {
  it.each([
    [{ body: { a: 1 } }, "json", '{"a":1}'],
    [{ body: "hello" }, "text", "hello"],
    [{ body: "hello", contentType: "json" }, "json", '"hello"'],
    [{ body: null }, "json", "null"],
    [{ body: "AP8=", contentType: "bytes" }, "bytes", undefined],
    [{ text: '{"id":12345678901234567890}' }, "json", '{"id":12345678901234567890}'],
    [{ text: "hello", contentType: "text" }, "text", "hello"],
  ])("stores %j as %s, under the id that it answers", async (request, contentType, text) => {
    const { directory, sent } = withMessage();
    const { status, body } = await ask(directory, "POST", "/queues/orders/messages", request);
    expect(status).toBe(200);
    const [[queue, index] = ["", new PackedIndex(new Uint8Array())]] = sent;
    expect(queue).toBe("orders");
    expect(body).toEqual({ queue: "orders", id: index.id(0) });
    expect(index.contentType(0)).toBe(contentType);
    if (text !== undefined) expect(textOf(index)).toBe(text);
    else expect([...index.body(0)]).toEqual([0, 255]);
    expect(index.delaySeconds(0)).toBeUndefined();
    expect(index.hasExtension(0)).toBe(false);
  });

  it("takes a delay, attributes and a group", async () => {
    const { directory, sent } = withMessage();
    const request = { body: "m", delaySeconds: 60, attributes: { kind: "order" }, group: "g" };
    expect((await ask(directory, "POST", "/queues/orders/messages", request)).status).toBe(200);
    const index = sent[0]?.[1];
    expect(index?.delaySeconds(0)).toBe(60);
    const { groupId, attributes } = index?.extension(0) ?? {};
    expect(groupId).toBe("g");
    expect(decodeAttributes(attributes).attributes).toEqual({
      kind: { DataType: "String", StringValue: "order" },
    });
  });

  it.each<[unknown, number, string]>([
    ["{", 400, "invalid_body"],
    [{}, 400, "invalid_body"],
    [{ body: 1, text: "1" }, 400, "invalid_body"],
    [{ text: "{" }, 400, "invalid_body"],
    [{ text: "\ud800" }, 400, "invalid_body"],
    [{ text: "x".repeat(MESSAGE_BYTES_MAX + 1), contentType: "text" }, 413, "too_large"],
    [{ body: 1, delay: 3 }, 400, "invalid_body"],
    [{ body: 1, delaySeconds: 86_401 }, 400, "invalid_body"],
    [{ body: 1, delaySeconds: -1 }, 400, "invalid_body"],
    [{ body: 1, contentType: "v8" }, 400, "invalid_body"],
    [{ body: 1, contentType: "text" }, 400, "invalid_body"],
    [{ body: "%", contentType: "bytes" }, 400, "invalid_body"],
    [{ body: "m", attributes: { a: 1 } }, 400, "invalid_body"],
    [{ body: "m", attributes: JSON.parse('{"__proto__": "x"}') }, 400, "invalid_body"],
    [{ body: "x".repeat(MESSAGE_BYTES_MAX + 1) }, 413, "too_large"],
  ])("refuses %j", async (body, status, code) => {
    const { directory, sent } = withMessage();
    expect(await ask(directory, "POST", "/queues/orders/messages", body)).toMatchObject({
      status,
      body: { error: { code } },
    });
    expect(sent).toEqual([]);
  });

  it("takes a body of the largest size, and says why a queue takes nothing", async () => {
    const large = { body: "x".repeat(MESSAGE_BYTES_MAX) };
    expect((await ask(withMessage().directory, "POST", "/queues/orders/messages", large)).status).toBe(200);
    const full = async () => ({ ok: false, code: 10_252, cause: "It is full." }) as const;
    const { status, body } = await ask(
      withMessage({ send: full }).directory,
      "POST",
      "/queues/orders/messages",
      { body: 1 },
    );
    expect(status).toBeGreaterThanOrEqual(400);
    expect(body).toEqual({ error: { code: "refused", message: "It is full." } });
  });
});

describe("POST /queues/NAME/messages/ID/resend", () => {
  const path = `/queues/orders/messages/${ID}/resend`;

  it("sends a copy under a new id, with its group and its attributes", async () => {
    const attributes = encodeAttributes({
      attributes: { kind: { DataType: "String", StringValue: "order" } },
      traceHeader: null,
    });
    const message = lookedAt({ group: "g", attributes: attributes ?? null, from: "source" });
    const { directory, sent } = withMessage({}, message);
    const { body } = await ask(directory, "POST", path);
    const [queue, index] = sent[0] ?? [];
    expect([queue, index && textOf(index), index?.contentType(0)]).toEqual(["orders", '{"a":1}', "json"]);
    expect(body).toEqual({ queue: "orders", id: index?.id(0) });
    expect(index?.id(0)).not.toBe(ID);
    expect(index?.timestampMs(0)).toBe(0);
    expect(index?.extension(0)).toEqual({ groupId: "g", attributes });
  });

  it.each([
    [{ to: "dead" }, "dead", "json", '{"a":1}'],
    [{ body: { a: 2 } }, "orders", "json", '{"a":2}'],
    [{ body: "edited" }, "orders", "json", '"edited"'],
    [{ body: "edited", contentType: "text" }, "orders", "text", "edited"],
    [{ contentType: "text" }, "orders", "text", '{"a":1}'],
    [{ text: '{"a":1.0}' }, "orders", "json", '{"a":1.0}'],
    [{ delaySeconds: 5 }, "orders", "json", '{"a":1}'],
  ])("%j is sent to %s as %s: %s", async (request, to, contentType, text) => {
    const { directory, sent } = withMessage();
    expect((await ask(directory, "POST", path, request)).status).toBe(200);
    const [queue, index] = sent[0] ?? [];
    expect([queue, index?.contentType(0), index && textOf(index)]).toEqual([to, contentType, text]);
    expect(index?.delaySeconds(0)).toBe((request as { delaySeconds?: number }).delaySeconds);
  });

  it("keeps a body of V8, and one that is larger than Cloudflare's, as it is", async () => {
    const v8 = withMessage({}, lookedAt({ contentType: "v8", body: Uint8Array.of(255, 15, 48) }));
    await ask(v8.directory, "POST", path);
    expect(v8.sent[0]?.[1].contentType(0)).toBe("v8");
    const large = withMessage(
      {},
      lookedAt({ contentType: "text", body: new Uint8Array(MESSAGE_BYTES_MAX + 1) }),
    );
    expect((await ask(large.directory, "POST", path)).status).toBe(200);
    expect(large.sent[0]?.[0]).toBe("orders as SQS");
  });

  it.each<[unknown, number, string]>([
    [{ to: "nothing" }, 404, "queue_not_found"],
    [{ two: 1 }, 400, "invalid_body"],
    [{ delaySeconds: 0.5 }, 400, "invalid_body"],
  ])("refuses %j", async (body, status, code) => {
    const { directory, sent } = withMessage();
    expect(await ask(directory, "POST", path, body)).toMatchObject({ status, body: { error: { code } } });
    expect(sent).toEqual([]);
  });

  it("POST /queues/NAME/messages/ID/resend to a FIFO queue needs a group", async () => {
    const fifo = { ...DEAD, fifo: {} };
    const { sent, directory } = withMessage();
    const account = directoryOf({ orders: ORDERS, line: fifo }).account;
    const known = { ...directory, account };
    const refused = { status: 400, body: { error: { code: "group_required" } } };
    expect(await ask(known, "POST", path, { to: "line" })).toMatchObject(refused);
    expect(await ask(known, "POST", "/queues/line/messages", { body: 1 })).toMatchObject(refused);
    expect((await ask(known, "POST", "/queues/line/messages", { body: 1, group: "g" })).status).toBe(200);
    expect(sent).toHaveLength(1);
  });

  it("refuses a content type that the body is not of, and a message that is gone", async () => {
    const noJson = withMessage({}, lookedAt({ contentType: "text", body: new TextEncoder().encode("{") }));
    expect(await ask(noJson.directory, "POST", path, { contentType: "json" })).toMatchObject({ status: 400 });
    expect(await ask(withMessage({}, null).directory, "POST", path)).toMatchObject({ status: 404 });
  });
});

describe("a finished message", () => {
  const end = { kind: "acked", atMs: 1, by: null, error: null } as const;
  const { sent, directory } = withMessage({}, lookedAt({ state: "finished", end }));

  it.each([
    ["DELETE", `/queues/orders/messages/${ID}`],
    ["POST", `/queues/orders/messages/${ID}/retry`],
  ])("a finished message is refused %s %s", async (method, path) => {
    expect(await ask(directory, method, path)).toEqual({
      status: 409,
      body: {
        error: {
          code: "message_finished",
          message: `Message "${ID}" is finished: it has left queue "orders", and can be sent again.`,
        },
      },
    });
  });

  it("a finished message is sent again as any other", async () => {
    expect((await ask(directory, "POST", `/queues/orders/messages/${ID}/resend`, {})).status).toBe(200);
    expect(sent).toHaveLength(1);
  });
});

it.each([
  ["DELETE", `messages/${ID}`],
  ["POST", `messages/${ID}/retry`],
  ["POST", `messages/${ID}/resend`],
  ["POST", "messages"],
])(
  "what changes something %s %s is refused to a page of another origin, and is 404 for a queue that does not exist",
  async (method, path) => {
    const gateway = createGateway(directoryOf(), OPEN);
    const headers = { origin: "https://evil.example" };
    expect((await gateway.request(`${API}/queues/orders/${path}`, { method, headers })).status).toBe(403);
    expect((await gateway.request(`${API}/queues/nothing/${path}`, { method })).status).toBe(404);
  },
);
