import {
  BATCH_BYTES_MAX,
  BATCH_MESSAGES_MAX,
  DELAY_SECONDS_MAX,
  MESSAGE_BYTES_MAX,
  type SendReply,
} from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { ask, decode, METRICS_VIEW, refusal, sentBy, text } from "../../../test/messages-api.ts";
import { REQUEST_BYTES_MAX } from "../json-body.ts";

describe("a push (spec cloudflare-queues 5.2, 5.3)", () => {
  // conformance: push-over-http
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

  // conformance: push-over-http
  it("a push of a batch keeps its order, and the batch's delay beside the messages' own", async () => {
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
    // conformance: push-over-http-refused
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
    // conformance: push-over-http-refused
  ])("passes a refusal with code %i on with status %i", async (code, status) => {
    const send = async (): Promise<SendReply> => ({ ok: false, code, cause: "why" });
    expect(await refusal("", { body: 1 }, { send })).toEqual([status, code, "why"]);
  });
});
