import {
  BATCH_BYTES_MAX,
  BATCH_MESSAGES_MAX,
  MESSAGE_BYTES_MAX,
  type SendReply,
  type SendRequest,
  unpackMessages,
} from "@sluice/protocol";
import { describe, expect, it, vi } from "vitest";
import { type BindingTarget, createBindingApp } from "./binding-app.ts";

const METRICS = { backlogCount: 2, backlogBytes: 30, oldestMessageTimestampMs: 0 };
const STORED: SendReply = { ok: true, metrics: METRICS };

/** Sends a request as the binding does, and answers with the response and what the broker got. */
async function ask(
  path: string,
  init: RequestInit = {},
  answer: () => Promise<SendReply> = async () => STORED,
  queue: unknown = "orders",
) {
  const sent: SendRequest[] = [];
  const target: BindingTarget = {
    queue,
    broker: {
      send: (_queue, requests) => {
        sent.push(...requests);
        return answer();
      },
      metrics: async () => METRICS,
    },
  };
  const request = new Request(`https://fake-host${path}`, init);
  return { response: await createBindingApp().fetch(request, target), sent };
}

const message = (body: BodyInit, headers: Record<string, string>) =>
  ask("/message", { method: "POST", body, headers });
const batch = (messages: unknown, headers: Record<string, string> = {}) =>
  ask("/batch", { method: "POST", body: JSON.stringify({ messages }), headers });
const text = (length: number) => ({ body: btoa("x".repeat(length)), contentType: "text" });

async function bindingRefusal({ response, sent }: Awaited<ReturnType<typeof ask>>) {
  expect(sent).toEqual([]);
  const cause = response.headers.get("CF-Queues-Error-Cause");
  expect(response.statusText).toBe(cause);
  return [response.status, Number(response.headers.get("CF-Queues-Error-Code")), cause];
}

describe("the protocol of workerd's queue binding (spec cloudflare-queues 1.7, 1.8)", () => {
  // conformance: native-binding
  it("stores a message as it comes, under an id of its own", async () => {
    const { response, sent } = await message("[1]", { "x-msg-fmt": "json", "x-msg-delay-secs": "7" });
    expect(await response.json()).toEqual({
      metadata: { metrics: { backlogCount: 2, backlogBytes: 30, oldestMessageTimestamp: 0 } },
    });
    const [request] = sent;
    expect(request?.delaySeconds).toBeUndefined();
    expect(unpackMessages(request?.packed ?? new Uint8Array())).toMatchObject([
      { id: expect.stringMatching(/^[0-9a-f]{32}$/), contentType: "json", delaySeconds: 7 },
    ]);
  });

  // conformance: native-binding-without-type
  it("takes a message without a content type for V8's serialization", async () => {
    const { sent } = await message(new Uint8Array([0xff, 0x0f, 0x49, 0x02]), {});
    expect(unpackMessages(sent[0]?.packed ?? new Uint8Array())).toMatchObject([{ contentType: "v8" }]);
  });

  // conformance: native-binding
  it("stores a batch in its order, with the batch's delay beside the messages' own", async () => {
    const { sent } = await batch([text(1), { ...text(2), delaySecs: 0 }], { "x-msg-delay-secs": "60" });
    expect(sent).toHaveLength(1);
    expect(sent[0]?.delaySeconds).toBe(60);
    const [first, second] = unpackMessages(sent[0]?.packed ?? new Uint8Array());
    expect([first?.body.length, first?.delaySeconds]).toEqual([1, undefined]);
    expect([second?.body.length, second?.delaySeconds]).toEqual([2, 0]);
  });

  // conformance: native-binding-metrics
  it("tells figures without a wrapper around them, and 0 for a queue where nothing waits", async () => {
    const { response } = await ask("/metrics");
    expect(await response.json()).toEqual({ backlogCount: 2, backlogBytes: 30, oldestMessageTimestamp: 0 });
  });

  it.each([
    [MESSAGE_BYTES_MAX - 1, 200],
    [MESSAGE_BYTES_MAX, 200],
    [MESSAGE_BYTES_MAX + 1, 413],
  ])("answers a message of %i bytes with %i", async (length, status) => {
    expect((await message("x".repeat(length), { "x-msg-fmt": "text" })).response.status).toBe(status);
    expect((await batch([text(length)])).response.status).toBe(status);
  });

  it.each([
    [BATCH_MESSAGES_MAX - 1, 200],
    [BATCH_MESSAGES_MAX, 200],
    [BATCH_MESSAGES_MAX + 1, 413],
  ])("answers a batch of %i messages with %i", async (count, status) => {
    expect((await batch(Array.from({ length: count }, () => text(1)))).response.status).toBe(status);
  });

  it.each([
    [BATCH_BYTES_MAX - 1, 200],
    [BATCH_BYTES_MAX, 200],
    [BATCH_BYTES_MAX + 1, 413],
  ])("answers a batch of %i bytes with %i", async (bytes, status) => {
    const messages = [text(100_000), text(100_000), text(bytes - 200_000)];
    expect((await batch(messages)).response.status).toBe(status);
  });

  it.each<[string, () => ReturnType<typeof ask>, number, number, string]>([
    [
      "an unknown content type",
      () => message("x", { "x-msg-fmt": "JSON" }),
      400,
      10203,
      "content type JSON is invalid",
    ],
    [
      "a delay in words",
      () => message("x", { "x-msg-fmt": "text", "x-msg-delay-secs": "soon" }),
      400,
      10203,
      "delay soon is no",
    ],
    [
      "a batch delay of a half",
      () => batch([text(1)], { "x-msg-delay-secs": "0.5" }),
      400,
      10202,
      "delay 0.5 is no",
    ],
    [
      "a request that is not JSON",
      () => ask("/batch", { method: "POST", body: "{" }),
      400,
      10208,
      "not JSON",
    ],
    [
      "a request without messages",
      () => ask("/batch", { method: "POST", body: "[]" }),
      400,
      10207,
      '{"messages": [...]}',
    ],
    ["an item that is no object", () => batch([null]), 400, 10207, "messages[0] must be an object"],
    ["a body that is no text", () => batch([{ body: 5 }]), 400, 10207, "messages[0].body must be"],
    [
      "a body that is no base64",
      () => batch([text(1), { body: "%" }]),
      400,
      10207,
      "messages[1].body must be",
    ],
    [
      "a content type that is no text",
      () => batch([{ ...text(1), contentType: 5 }]),
      400,
      10207,
      "contentType must be",
    ],
    [
      "a delay that is no integer",
      () => batch([{ ...text(1), delaySecs: 0.5 }]),
      400,
      10207,
      "delaySecs must be",
    ],
    [
      "a delay beyond what a message holds",
      () => message("x", { "x-msg-fmt": "text", "x-msg-delay-secs": "4294967301" }),
      400,
      10203,
      "message delay of 4294967301 is not a whole number of seconds from 0 to 86400",
    ],
    [
      "a delay in a batch beyond what a message holds",
      () => batch([{ ...text(1), delaySecs: 4_294_967_301 }]),
      400,
      10203,
      "message delay of 4294967301 is not",
    ],
    [
      "a batch delay above 24 hours",
      () => batch([text(1)], { "x-msg-delay-secs": "86401" }),
      400,
      10202,
      "batch delay of 86401 is not",
    ],
    [
      "a body that no consumer can read",
      () => message("{", { "x-msg-fmt": "json" }),
      400,
      10203,
      "could not be decoded",
    ],
    [
      "another path",
      () => ask("/messages", { method: "POST" }),
      404,
      10104,
      "Nothing answers POST /messages.",
    ],
    // conformance: native-binding-refusals
  ])("refuses %s with code and cause", async (_what, send, status, code, cause) => {
    expect(await bindingRefusal(await send())).toEqual([status, code, expect.stringContaining(cause)]);
  });

  it.each([
    [10104, 404],
    [10250, 429],
    [10251, 429],
    [10202, 400],
    [15000, 500],
  ])(
    "passes a refusal of the broker with code %i on as status %i, in one line of ASCII",
    async (code, status) => {
      const reply: SendReply = { ok: false, code, cause: 'Queue "ö"\nis full.' };
      const { response } = await ask(
        "/message",
        { method: "POST", headers: { "x-msg-fmt": "text" } },
        async () => reply,
      );
      expect([response.status, response.statusText]).toEqual([status, 'Queue "?" is full.']);
      expect(response.headers.get("CF-Queues-Error-Code")).toBe(`${code}`);
    },
  );

  it.each([[undefined], [null], [5], [{}], ["Orders"], ["a".repeat(64)], [""]])(
    "refuses a binding whose properties name the queue %j",
    async (queue) => {
      const asked = await ask("/metrics", {}, undefined, queue ?? null);
      expect(await bindingRefusal(asked)).toEqual([
        404,
        10104,
        expect.stringContaining("must name its queue"),
      ]);
    },
  );

  it("says to the log, and not to the sender, what broke", async () => {
    const print = vi.spyOn(console, "error").mockImplementation(() => {});
    const broken = async (): Promise<SendReply> => {
      throw new Error("the disk is on fire");
    };
    const { response } = await ask("/message", { method: "POST", headers: { "x-msg-fmt": "text" } }, broken);
    expect([response.status, response.statusText]).toEqual([500, "Unknown Internal Error"]);
    expect(print.mock.calls[0]?.[0]).toContain("the disk is on fire");
    print.mockRestore();
  });
});
