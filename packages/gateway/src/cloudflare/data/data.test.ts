import {
  BATCH_BYTES_MAX,
  BATCH_MESSAGES_MAX,
  DELAY_SECONDS_MAX,
  MESSAGE_BYTES_MAX,
  PULL_BATCH_SIZE_DEFAULT,
  PULL_MESSAGES_MAX,
  type PullReply,
  packMessages,
  type SendReply,
  type SendRequest,
  unpackMessages,
  VISIBILITY_TIMEOUT_MS_MAX,
} from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { directoryOf, OPEN, ORDERS, queueWith, recordOf } from "../../../test/directory.ts";
import { createGateway } from "../../index.ts";
import type { QueueDirectory } from "../../queue-directory.ts";
import { TOKENS_MAX } from "./pull-routes.ts";
import { REQUEST_BYTES_MAX } from "./routes.ts";

const ID = recordOf("orders", ORDERS).queueId;
const METRICS = { backlogCount: 2, backlogBytes: 30, oldestMessageTimestampMs: 7 };
const METRICS_VIEW = { backlog_count: 2, backlog_bytes: 30, oldest_message_timestamp_ms: 7 };

type QueueObject = ReturnType<QueueDirectory["queue"]>;
interface Answer {
  success: boolean;
  errors: { code: number; message: string }[];
  result: Record<string, unknown>;
}

/** Posts to a path of a queue's messages, and answers with the reply and what the queue's object was called with. */
async function ask(path: string, body: unknown, changes: Partial<QueueObject> = {}, queueId = ID) {
  const calls: unknown[] = [];
  const note =
    <Reply>(reply: Reply) =>
    async (_queue: string, what: unknown): Promise<Reply> => {
      calls.push(what);
      return reply;
    };
  const directory = directoryOf();
  const none = { packed: new Uint8Array(), attempts: [] };
  const object = queueWith({
    send: note<SendReply>({ ok: true, metrics: METRICS }),
    pull: note<PullReply>({ ok: true, batch: { ...none, leaseIds: [], metrics: METRICS } }),
    settleLeases: note({ ackCount: 1, retryCount: 2, warnings: [["x", "gone"] as const] }),
    peek: note({ ...none, refs: [] }),
    deleteByRefs: note({ deleted: 1, warnings: [["r", "gone"] as const] }),
    ...changes,
  });
  const response = await createGateway({ ...directory, queue: () => object }, OPEN).request(
    `http://localhost/__sluice/client/v4/accounts/any/queues/${queueId}/messages${path}`,
    {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
      headers: { "content-type": "text/plain" },
    },
  );
  return { status: response.status, answer: (await response.json()) as Answer, calls };
}

/** Status, code and text of a refusal, after a look that nothing has reached the queue. */
async function refusal(path: string, body: unknown, changes: Partial<QueueObject> = {}, queueId = ID) {
  const { status, answer, calls } = await ask(path, body, changes, queueId);
  expect(answer).toMatchObject({ success: false, messages: [], result: null });
  expect(calls).toEqual([]);
  return [status, answer.errors[0]?.code, answer.errors[0]?.message];
}

const sentBy = (calls: readonly unknown[]) =>
  (calls as SendRequest[][]).flat().map(({ packed }) => unpackMessages(packed));
const text = (length: number) => ({ body: "x".repeat(length), content_type: "text" });
const decode = (body: Uint8Array | undefined) => new TextDecoder().decode(body);

describe("a push (spec cloudflare-queues 5.2, 5.3)", () => {
  it("stores JSON unless it says text, under a new id, and answers with the backlog", async () => {
    const { status, answer, calls } = await ask("", { body: { a: ["ü"] } });
    expect([status, answer]).toEqual([
      200,
      { success: true, errors: [], messages: [], result: { metadata: { metrics: METRICS_VIEW } } },
    ]);
    const [[message] = []] = sentBy(calls);
    expect(message).toMatchObject({ contentType: "json", id: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(decode(message?.body)).toBe('{"a":["ü"]}');
    expect(message?.delaySeconds).toBeUndefined();
    const asText = await ask("", { body: "ü", content_type: "text", delay_seconds: "7" });
    const [[other] = []] = sentBy(asText.calls);
    expect([other?.contentType, decode(other?.body), other?.delaySeconds]).toEqual(["text", "ü", 7]);
  });

  it.each([1, true, null, []])("takes %j for JSON", async (body) => {
    const [[message] = []] = sentBy((await ask("", { body })).calls);
    expect(decode(message?.body)).toBe(JSON.stringify(body));
  });

  it("of a batch keeps its order, and the batch's delay beside the messages' own", async () => {
    const { calls } = await ask("/batch", {
      messages: [{ body: [1] }, { body: "2", content_type: "text", delay_seconds: 0 }],
      delay_seconds: 60,
    });
    expect(calls).toMatchObject([[{ delaySeconds: 60 }]]);
    const [messages = []] = sentBy(calls);
    expect(messages.map(({ contentType, delaySeconds }) => [contentType, delaySeconds])).toEqual([
      ["json", undefined],
      ["text", 0],
    ]);
    const undelayed = await ask("/batch", { messages: [{ body: 1 }] });
    expect(undelayed.calls).toEqual([[{ packed: expect.any(Uint8Array) }]]);
  });

  it.each<[string, string, unknown, number, number, string]>([
    [
      "a string without a content type",
      "",
      { body: "x" },
      400,
      10207,
      'Expected object, received string at "body"',
    ],
    [
      "a string as JSON",
      "",
      { body: "x", content_type: "json" },
      400,
      10207,
      'Expected object, received string at "body"',
    ],
    ["no body", "", { messages: [] }, 400, 10207, 'Required at "body"'],
    [
      "an object as text",
      "",
      { body: {}, content_type: "text" },
      400,
      10207,
      'Expected string, received object at "body"',
    ],
    [
      "a content type that is none",
      "",
      { body: 1, content_type: "bytes" },
      400,
      10203,
      "content type bytes is invalid",
    ],
    [
      "a content type of another type",
      "",
      { body: 1, content_type: 1 },
      400,
      10207,
      'Expected string, received number at "content_type"',
    ],
    [
      "a delay in words",
      "",
      { body: 1, delay_seconds: "soon" },
      400,
      10207,
      'Expected number, received string at "delay_seconds"',
    ],
    ["a list", "", [], 400, 10207, "Expected object, received array"],
    ["what is not JSON", "", "{", 400, 10208, "not JSON"],
    ["a batch without messages", "/batch", { body: 1 }, 400, 10207, 'Required at "messages"'],
    [
      "a batch of a null",
      "/batch",
      { messages: [null] },
      400,
      10207,
      'Expected object, received null at "messages.0"',
    ],
    [
      "a batch with a message without body",
      "/batch",
      { messages: [{ body: 1 }, {}] },
      400,
      10207,
      'Required at "messages.1.body"',
    ],
    ["an empty batch", "/batch", { messages: [] }, 413, 10206, "batch message count of 0"],
  ])("refuses %s", async (_what, path, body, status, code, message) => {
    expect(await refusal(path, body)).toEqual([status, code, expect.stringContaining(message)]);
  });

  it.each([
    [-1, 400],
    [0, 200],
    [1, 200],
    [0.5, 400],
    [DELAY_SECONDS_MAX - 1, 200],
    [DELAY_SECONDS_MAX, 200],
    [DELAY_SECONDS_MAX + 1, 400],
  ])("answers a delay of %d s with %i", async (delay_seconds, status) => {
    const single = await ask("", { body: 1, delay_seconds });
    const batch = await ask("/batch", { messages: [{ body: 1 }], delay_seconds });
    expect([single.status, batch.status]).toEqual([status, status]);
    if (status === 400)
      expect([single, batch].map(({ answer }) => answer.errors[0]?.code)).toEqual([10203, 10202]);
  });

  it.each([
    [MESSAGE_BYTES_MAX - 1, 200],
    [MESSAGE_BYTES_MAX, 200],
    [MESSAGE_BYTES_MAX + 1, 413],
  ])("answers a message of %i bytes with %i", async (length, status) => {
    const single = await ask("", text(length));
    const batch = await ask("/batch", { messages: [text(length)] });
    expect([single.status, batch.status]).toEqual([status, status]);
    if (status === 413) expect(single.answer.errors[0]?.code).toBe(10204);
  });

  it.each([
    [BATCH_MESSAGES_MAX - 1, 200],
    [BATCH_MESSAGES_MAX, 200],
    [BATCH_MESSAGES_MAX + 1, 413],
  ])("answers a batch of %i messages with %i", async (count, status) => {
    const reply = await ask("/batch", { messages: Array.from({ length: count }, () => text(1)) });
    expect(reply.status).toBe(status);
    if (status === 413) expect(reply.answer.errors[0]?.code).toBe(10206);
  });

  it.each([
    [BATCH_BYTES_MAX - 1, 200],
    [BATCH_BYTES_MAX, 200],
    [BATCH_BYTES_MAX + 1, 413],
  ])("answers a batch of %i bytes with %i", async (bytes, status) => {
    const reply = await ask("/batch", { messages: [text(100_000), text(100_000), text(bytes - 200_000)] });
    expect(reply.status).toBe(status);
    if (status === 413) expect(reply.answer.errors[0]?.code).toBe(10205);
  });

  it.each([
    [REQUEST_BYTES_MAX - 1, 200],
    [REQUEST_BYTES_MAX, 200],
    [REQUEST_BYTES_MAX + 1, 413],
  ])("answers a request of %i bytes with %i", async (bytes, status) => {
    const json = JSON.stringify({ body: 1 });
    const reply = await ask("", json + " ".repeat(bytes - json.length));
    expect(reply.status).toBe(status);
    if (status === 413) expect(reply.answer.errors[0]?.code).toBe(10205);
  });

  it.each([
    [10104, 404],
    [10250, 429],
    [10251, 429],
    [15000, 500],
  ])("passes a refusal with code %i on with status %i", async (code, status) => {
    const send = async (): Promise<SendReply> => ({ ok: false, code, cause: "why" });
    expect(await refusal("", { body: 1 }, { send })).toEqual([status, code, "why"]);
  });
});

describe("a pull (spec cloudflare-queues 5.2, 5.4, 5.6)", () => {
  it("shows text as it is and everything else in base64, with attempts, lease ids and the backlog", async () => {
    const bytes = (...values: number[]) => Uint8Array.from(values);
    const utf8 = (value: string) => new TextEncoder().encode(value);
    const message = (digit: string, contentType: "text" | "json" | "bytes" | "v8", body: Uint8Array) => ({
      id: digit.repeat(32),
      contentType,
      body,
      timestampMs: 5,
    });
    const packed = packMessages([
      message("a", "text", utf8("\ufeffü")),
      message("b", "json", utf8('{"ü":1}')),
      message("c", "bytes", bytes(0, 255)),
      message("d", "v8", bytes(255, 15, 73, 2)),
    ]);
    const batch = { packed, attempts: [1, 2, 3, 4], leaseIds: ["k", "l", "m", "n"], metrics: METRICS };
    const { answer } = await ask("/pull", {}, { pull: async () => ({ ok: true, batch }) });
    const view = (digit: string, attempts: number, type: string, body: string, lease_id: string) => ({
      id: digit.repeat(32),
      body,
      attempts,
      timestamp_ms: 5,
      metadata: { "CF-Content-Type": type },
      lease_id,
    });
    expect(answer.result).toEqual({
      message_backlog_count: 2,
      messages: [
        view("a", 1, "text", "\ufeffü", "k"),
        view("b", 2, "json", Buffer.from('{"ü":1}').toString("base64"), "l"),
        view("c", 3, "bytes", "AP8=", "m"),
        view("d", 4, "v8", "/w9JAg==", "n"),
      ],
      metadata: { metrics: METRICS_VIEW },
    });
  });

  it("shows a body of the largest size", async () => {
    const body = new Uint8Array(MESSAGE_BYTES_MAX).fill(200);
    const packed = packMessages([{ id: "a".repeat(32), contentType: "bytes", body }]);
    const batch = { packed, attempts: [1], leaseIds: ["k"], metrics: METRICS };
    const { answer } = await ask("/pull", {}, { pull: async () => ({ ok: true, batch }) });
    expect(answer.result.messages).toMatchObject([{ body: Buffer.from(body).toString("base64") }]);
  });

  it.each<[string, unknown, object]>([
    ["nothing at all", "", {}],
    ["an empty object", {}, {}],
    ["nulls", { batch_size: null, visibility_timeout_ms: null }, {}],
    ["numbers", { batch_size: 7, visibility_timeout_ms: 9 }, { max: 7, visibilityTimeoutMs: 9 }],
    [
      "strings of digits",
      { batch_size: "7", visibility_timeout_ms: "9" },
      { max: 7, visibilityTimeoutMs: 9 },
    ],
    ["the old name of the timeout", { visibility_timeout: 9 }, { visibilityTimeoutMs: 9 }],
    ["both names", { visibility_timeout_ms: 8, visibility_timeout: 9 }, { visibilityTimeoutMs: 8 }],
  ])("takes %s", async (_what, body, request) => {
    expect((await ask("/pull", body)).calls).toEqual([request]);
  });

  it.each([
    [0, 400],
    [1, 200],
    [2, 200],
    [1.5, 400],
    [PULL_MESSAGES_MAX - 1, 200],
    [PULL_MESSAGES_MAX, 200],
    [PULL_MESSAGES_MAX + 1, 400],
  ])("and a peek of %d messages are answered with %i", async (batch_size, status) => {
    expect((await ask("/pull", { batch_size })).status).toBe(status);
    expect((await ask("/peek", { batch_size })).status).toBe(status);
  });

  it.each([
    [-1, 400],
    [0, 200],
    [VISIBILITY_TIMEOUT_MS_MAX, 200],
    [VISIBILITY_TIMEOUT_MS_MAX + 1, 400],
  ])("with a visibility timeout of %i ms is answered with %i", async (ms, status) => {
    expect((await ask("/pull", { visibility_timeout_ms: ms })).status).toBe(status);
    expect((await ask("/pull", { visibility_timeout: ms })).status).toBe(status);
  });

  it.each<[Extract<PullReply, { ok: false }>["reason"], number, string]>([
    ["notPullConsumer", 405, "messages cannot be pulled unless http_pull mode is enabled"],
    ["deliveryPaused", 409, "queue_delivery_paused"],
  ])("that is refused as %s is answered with %i", async (reason, status, message) => {
    const pull = async (): Promise<PullReply> => ({ ok: false, reason });
    expect(await refusal("/pull", {}, { pull })).toEqual([status, 0, message]);
  });
});

describe("an acknowledgement (spec cloudflare-queues 5.2, 5.5)", () => {
  it("settles by lease ids, and warns by them", async () => {
    const { answer, calls } = await ask("/ack", {
      acks: [{ lease_id: "a" }],
      retries: [{ lease_id: "b" }, { lease_id: "c", delay_seconds: "5" }],
    });
    expect(calls).toEqual([{ acks: ["a"], retries: [{ leaseId: "b" }, { leaseId: "c", delaySeconds: 5 }] }]);
    expect(answer.result).toEqual({ ackCount: 1, retryCount: 2, warnings: { x: "gone" } });
  });

  it.each([{}, { acks: null, retries: null }, ""])("may leave both lists out: %j", async (body) => {
    expect((await ask("/ack", body)).calls).toEqual([{ acks: [], retries: [] }]);
  });

  it("warns of a lease id that is a name of JavaScript's own", async () => {
    const settleLeases = async () => ({
      ackCount: 0,
      retryCount: 0,
      warnings: [["__proto__", "no lease"] as const],
    });
    const { answer } = await ask("/ack", { acks: [{ lease_id: "__proto__" }] }, { settleLeases });
    expect(JSON.stringify(answer.result.warnings)).toBe('{"__proto__":"no lease"}');
  });

  it.each<[unknown, number, string]>([
    [{ acks: [{}] }, 10207, 'Required at "acks.0.lease_id"'],
    [{ acks: [{ lease_id: 5 }] }, 10207, 'Expected string, received number at "acks.0.lease_id"'],
    [{ acks: ["a"] }, 10207, 'Expected object, received string at "acks.0"'],
    [{ acks: {} }, 10207, 'Expected array, received object at "acks"'],
    [{ retries: [{ lease_id: "a", delay_seconds: -1 }] }, 10203, "retry delay of -1"],
    [{ retries: [{ lease_id: "a", delay_seconds: DELAY_SECONDS_MAX + 1 }] }, 10203, "retry delay of 86401"],
    ["null", 10207, "Expected object, received null"],
  ])("refuses %j whole", async (body, code, message) => {
    expect(await refusal("/ack", body)).toEqual([400, code, expect.stringContaining(message)]);
  });

  it.each([
    [TOKENS_MAX - 1, 200],
    [TOKENS_MAX, 200],
    [TOKENS_MAX + 1, 413],
  ])("of %i leases is answered with %i", async (count, status) => {
    const acks = Array.from({ length: count - 1 }, () => ({ lease_id: "a" }));
    expect((await ask("/ack", { acks, retries: [{ lease_id: "b" }] })).status).toBe(status);
    const refs = Array.from({ length: count }, () => ({ ref: "r" }));
    expect((await ask("/purge", { refs })).status).toBe(status);
  });
});

describe("a look at messages (spec cloudflare-queues 5.2)", () => {
  it("shows them with a ref to each", async () => {
    const packed = packMessages([
      { id: "a".repeat(32), contentType: "json", body: new TextEncoder().encode("[1]"), timestampMs: 5 },
    ]);
    const peek = async () => ({ packed, attempts: [0], refs: ["r"] });
    const { answer } = await ask("/peek", {}, { peek });
    expect(answer.result).toEqual({
      messages: [
        {
          id: "a".repeat(32),
          body: "WzFd",
          attempts: 0,
          timestamp_ms: 5,
          metadata: { "CF-Content-Type": "json" },
          ref: "r",
        },
      ],
    });
    expect((await ask("/peek", "")).calls).toEqual([PULL_BATCH_SIZE_DEFAULT]);
  });

  it("deletes by refs", async () => {
    const { answer, calls } = await ask("/purge", { refs: [{ ref: "r" }, { ref: "s" }] });
    expect(calls).toEqual([["r", "s"]]);
    expect(answer.result).toEqual({ errors: [], warnings: { r: "gone" } });
    expect(await refusal("/purge", {})).toEqual([400, 10207, 'Required at "refs"']);
  });
});

describe("every call", () => {
  const paths = ["", "/batch", "/pull", "/ack", "/peek", "/purge"];

  it.each(paths)("to messages%s needs the id of a queue that exists", async (path) => {
    expect(await refusal(path, {}, {}, "orders")).toEqual([400, 10107, expect.any(String)]);
    expect(await refusal(path, {}, {}, "f".repeat(32))).toEqual([404, 10104, expect.any(String)]);
  });

  it.each(["/pull", "/ack", "/peek"])(
    "to messages%s says 10104 when the queue goes meanwhile",
    async (path) => {
      const gone = () => Promise.reject(new Error('Queue "orders" does not exist (10104)'));
      const changes = { pull: gone, settleLeases: gone, peek: gone };
      expect(await refusal(path, {}, changes)).toEqual([404, 10104, "The queue does not exist any more."]);
    },
  );
});
