import { decodeAttributes } from "@sluice/aws";
import { encodeBody, PackedIndex, type SendRequest, unpackMessages } from "@sluice/protocol";
import { expect, it, vi } from "vitest";
import { directoryOf, OPEN, queueWith } from "../../../test/directory.ts";
import { createGateway, type QueueDirectory } from "../../index.ts";
import { BODIES_BYTES_MAX } from "./batch-route.ts";

const METRICS = { backlogCount: 1, backlogBytes: 1, oldestMessageTimestampMs: 1 };

/** Posts a batch to the queue "orders" and answers what it was asked to store. */
async function post(body: unknown, directory?: QueueDirectory, queue = "orders") {
  const sent: SendRequest[] = [];
  const send = vi.fn(async (_: string, requests: readonly SendRequest[]) => {
    sent.push(...requests);
    return { ok: true, metrics: METRICS } as const;
  });
  const enqueue = vi.fn(async (_: string, request: SendRequest) => {
    sent.push(request);
    return { ok: true, sequenceNumbers: [] } as never;
  });
  const known = directory ?? { ...directoryOf(), queue: () => queueWith({ send, enqueue }) };
  const response = await createGateway(known, OPEN).request(
    `http://localhost:8787/__sluice/api/queues/${queue}/messages/batch`,
    { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) },
  );
  return { status: response.status, body: await response.json(), sent };
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

it("POST /queues/NAME/messages/batch stores bodies of every content type byte for byte, and answers their ids", async () => {
  const v8 = encodeBody({ when: new Date(0) }, "v8");
  const { status, body, sent } = await post({
    messages: [
      { text: '{"n": 12345678901234567890}' },
      { contentType: "json", text: '"a string"', delaySeconds: 60 },
      { contentType: "text", text: "ü" },
      { contentType: "bytes", base64: base64(Uint8Array.of(0, 255)) },
      { contentType: "v8", base64: base64(v8) },
    ],
  });
  const [request] = sent;
  const stored = unpackMessages(request?.packed ?? new Uint8Array());
  expect(stored.map(({ contentType, body }) => [contentType, base64(body)])).toEqual([
    ["json", btoa('{"n": 12345678901234567890}')],
    ["json", btoa('"a string"')],
    ["text", base64(new TextEncoder().encode("ü"))],
    ["bytes", base64(Uint8Array.of(0, 255))],
    ["v8", base64(v8)],
  ]);
  expect(stored.map(({ delaySeconds }) => delaySeconds)).toEqual([
    undefined,
    60,
    ...Array(3).fill(undefined),
  ]);
  const ids = stored.map(({ id }) => id);
  expect(new Set(ids).size).toBe(5);
  expect({ status, body }).toEqual({ status: 200, body: { sent: 5, ids } });
});

it("POST /queues/NAME/messages/batch takes a message as it is shown, with its group and its attributes", async () => {
  const attributes = {
    kind: { type: "String", value: "order" },
    raw: { type: "Binary.x", value: base64(Uint8Array.of(1, 2)) },
  };
  const shown = { id: "0".repeat(32), state: "ready", why: {}, base64: null, contentType: "text" };
  const { status, sent } = await post({ messages: [{ ...shown, text: "b", group: "g", attributes }] });
  expect(status).toBe(200);
  const extension = new PackedIndex(sent[0]?.packed ?? new Uint8Array()).extension(0);
  expect(extension.groupId).toBe("g");
  expect(decodeAttributes(extension.attributes).attributes).toMatchObject({
    kind: { DataType: "String", StringValue: "order" },
    raw: { DataType: "Binary.x", BinaryValue: Uint8Array.of(1, 2) },
  });
});

const good = { contentType: "text", text: "b" };

it.each<[string, object, RegExp]>([
  ["a content type that is none", { contentType: "xml", text: "b" }, /contentType/],
  ["no body", { contentType: "text" }, /text, or base64/],
  ["two bodies", { ...good, base64: "" }, /text, or base64/],
  ["JSON that is none", { text: "{" }, /is refused/],
  ["v8 that no consumer can read", { contentType: "v8", base64: "AAAA" }, /is refused/],
  ["base64 that is none", { contentType: "bytes", base64: "?" }, /base64/],
  ["a delay out of range", { ...good, delaySeconds: 86_401 }, /delaySeconds/],
  [
    "an attribute of no type",
    { ...good, attributes: { a: { type: "Boolean", value: "x" } } },
    /String, Number/,
  ],
  ["bytes that are none", { ...good, attributes: { a: { type: "Binary", value: "?" } } }, /base64/],
  [
    "too many attributes",
    {
      ...good,
      attributes: Object.fromEntries(
        Array.from({ length: 11 }, (_, i) => [`a${i}`, { type: "String", value: "x" }]),
      ),
    },
    /10 attributes/,
  ],
  [
    "a body that is too large",
    { ...good, text: "x".repeat(BODIES_BYTES_MAX + 1) },
    /is refused|bytes at most/,
  ],
])(
  "POST /queues/NAME/messages/batch refuses %s, stores nothing and says which message it is",
  async (_, wrong, message) => {
    const { status, body, sent } = await post({ messages: [good, wrong] });
    expect([400, 413]).toContain(status);
    const { error } = body as { error: { message: string; index?: number } };
    expect(error.message).toMatch(message);
    if (status === 400) expect(error.index).toBe(1);
    expect(sent).toEqual([]);
  },
);

it.each([
  ["{", "invalid_body"],
  [{}, "invalid_body"],
  [{ messages: [] }, "invalid_body"],
  [{ messages: Array(101).fill(good) }, "invalid_body"],
])("POST /queues/NAME/messages/batch refuses what is no batch", async (given, code) => {
  expect(await post(given)).toMatchObject({ status: 400, body: { error: { code } }, sent: [] });
});

it("POST /queues/NAME/messages/batch takes bodies of as many bytes as the limit", async () => {
  const half = { contentType: "text", text: "x".repeat(BODIES_BYTES_MAX / 2) };
  expect(await post({ messages: [half, half] })).toMatchObject({ status: 200 });
  expect(await post({ messages: [half, half, good] })).toMatchObject({
    status: 413,
    body: { error: { code: "batch_too_large" } },
  });
});

it.each([
  [-1, 200],
  [0, 200],
  [1, 413],
])(
  "POST /queues/NAME/messages/batch takes one body of the limit and %i bytes with %i",
  async (more, status) => {
    const text = "x".repeat(BODIES_BYTES_MAX + more);
    expect(await post({ messages: [{ contentType: "text", text }] })).toMatchObject({ status });
  },
);

it("POST /queues/NAME/messages/batch answers what the queue says when it refuses", async () => {
  const refusal = { ok: false, code: 10250, cause: "too much" } as const;
  const refusing = { ...directoryOf(), queue: () => queueWith({ send: async () => refusal }) };
  expect(await post({ messages: [good] }, refusing)).toMatchObject({
    status: 429,
    body: { error: { code: "refused", message: "too much" } },
  });
});

it("POST /queues/NAME/messages/batch is 404 for a queue that does not exist", async () => {
  expect(await post({ messages: [good] }, undefined, "nothing")).toMatchObject({ status: 404 });
});

it("POST /queues/NAME/messages/batch refuses an attribute whose name an object loses", async () => {
  const lossy = '{"text": "1", "attributes": {"__proto__": {"type": "String", "value": "x"}}}';
  const { status, body, sent } = await post(`{"messages": [{"text": "1"}, ${lossy}]}`);
  const error = expect.objectContaining({
    message: "Message 1 of the batch must not have an attribute named __proto__.",
  });
  expect({ status, body, sent }).toEqual({ status: 400, body: expect.objectContaining({ error }), sent: [] });
});
