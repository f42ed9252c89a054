import {
  DELAY_SECONDS_MAX,
  MESSAGE_BYTES_MAX,
  PULL_MESSAGES_MAX,
  type PullReply,
  packMessages,
  VISIBILITY_TIMEOUT_MS_MAX,
} from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { ask, METRICS, METRICS_VIEW, refusal } from "../../../test/messages-api.ts";
import { TOKENS_MAX } from "./pull-routes.ts";

describe("a pull (spec cloudflare-queues 5.2, 5.4, 5.6)", () => {
  // conformance: pull-over-http
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
    // conformance: pull-over-http
  ])("and a peek of %d messages are answered with %i", async (batch_size, status) => {
    expect((await ask("/pull", { batch_size })).status).toBe(status);
    expect((await ask("/peek", { batch_size })).status).toBe(status);
  });

  it.each([
    [-1, 400],
    [0, 200],
    [VISIBILITY_TIMEOUT_MS_MAX, 200],
    [VISIBILITY_TIMEOUT_MS_MAX + 1, 400],
  ])("a pull with a visibility timeout of %i ms is answered with %i", async (ms, status) => {
    expect((await ask("/pull", { visibility_timeout_ms: ms })).status).toBe(status);
    expect((await ask("/pull", { visibility_timeout: ms })).status).toBe(status);
  });

  it.each<[Extract<PullReply, { ok: false }>["reason"], number, string]>([
    ["notPullConsumer", 405, "messages cannot be pulled unless http_pull mode is enabled"],
    ["deliveryPaused", 409, "queue_delivery_paused"],
    // conformance: pull-over-http-refused
  ])("a pull that is refused as %s is answered with %i", async (reason, status, message) => {
    const pull = async (): Promise<PullReply> => ({ ok: false, reason });
    expect(await refusal("/pull", {}, { pull })).toEqual([status, 0, message]);
  });
});

describe("an acknowledgement (spec cloudflare-queues 5.2, 5.5)", () => {
  // conformance: ack-over-http
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
  ])("an acknowledgement of %i leases is answered with %i", async (count, status) => {
    const acks = Array.from({ length: count - 1 }, () => ({ lease_id: "a" }));
    expect((await ask("/ack", { acks, retries: [{ lease_id: "b" }] })).status).toBe(status);
    const refs = Array.from({ length: count }, () => ({ ref: "r" }));
    expect((await ask("/purge", { refs })).status).toBe(status);
  });
});
