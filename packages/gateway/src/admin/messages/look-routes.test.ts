import { encodeAttributes } from "@sluice/aws";
import { encodeBody, type LookedAt, type LookReply, PREVIEW_BYTES_MAX, type Why } from "@sluice/protocol";
import { describe, expect, it, vi } from "vitest";
import { lookedAt as anyLookedAt, directoryOf, OPEN, queueWith } from "../../../test/directory.ts";
import { createGateway, type QueueDirectory } from "../../index.ts";
import { BODY_CHARACTERS_MAX } from "./message-view.ts";

const API = "http://localhost:8787/__sluice/api";
const ID = "0123456789abcdef0123456789abcdef";
const SENT_MS = 1_700_000_000_000;
const SENT_AT = "2023-11-14T22:13:20.000Z";
const PAUSED: Why = { reason: "paused", text: "Delivery is paused.", untilMs: null, by: null };

type Able = Parameters<typeof queueWith>[0];

function withQueue(able: Able): QueueDirectory {
  return { ...directoryOf(), queue: () => queueWith(able) };
}

async function ask(directory: QueueDirectory, path: string) {
  const response = await createGateway(directory, OPEN).request(`${API}${path}`);
  return { status: response.status, body: await response.json() };
}

function lookedAt(changes: Partial<LookedAt> = {}): LookedAt {
  const body = changes.body ?? new Uint8Array();
  const times = { sentMs: SENT_MS, atMs: SENT_MS + 1_000, keptUntilMs: SENT_MS + 2_000 };
  return anyLookedAt({ id: ID, ...times, bodyBytes: body.byteLength, body, why: PAUSED, ...changes });
}

const replyOf = (messages: readonly LookedAt[], changes: Partial<LookReply> = {}): LookReply => ({
  messages,
  matched: messages.length,
  cursor: null,
  searched: 3,
  of: 9,
  ...changes,
});
const text = (characters: number) => new TextEncoder().encode("ü".repeat(characters));

describe("GET /queues/NAME/messages", () => {
  it("shows how each message stands, why it is not delivered, and how far the search has come", async () => {
    const attributes = encodeAttributes({
      attributes: {
        kind: { DataType: "String", StringValue: "order" },
        raw: { DataType: "Binary.x", BinaryValue: Uint8Array.of(0, 255) },
      },
      traceHeader: null,
    });
    const lastError = "TypeError: card declined";
    const waits = lookedAt({ group: "g", from: "orders", attributes: attributes ?? null, lastError });
    const why: Why = { reason: "leased", text: "It is leased.", untilMs: SENT_MS, by: "mailer" };
    const leased = lookedAt({ state: "leased", attempts: 2, why });
    const look = vi.fn(async () => replyOf([waits, leased], { cursor: "1-2-3" }));
    const { body } = await ask(withQueue({ look }), "/queues/orders/messages");
    expect(look).toHaveBeenCalledExactlyOnceWith("orders", { max: 20, filter: [] });
    const common = { id: ID, ref: "r", sentAt: SENT_AT, keptUntil: "2023-11-14T22:13:22.000Z", bytes: 0 };
    expect(body).toEqual({
      messages: [
        {
          ...common,
          state: "ready",
          attempts: 0,
          dueAt: "2023-11-14T22:13:21.000Z",
          leasedUntil: null,
          contentType: "text",
          text: "",
          truncated: false,
          group: "g",
          from: "orders",
          lastError,
          attributes: { kind: { type: "String", value: "order" }, raw: { type: "Binary.x", value: "AP8=" } },
          why: { reason: "paused", text: "Delivery is paused.", until: null, by: null },
        },
        {
          ...common,
          state: "leased",
          attempts: 2,
          dueAt: null,
          leasedUntil: "2023-11-14T22:13:21.000Z",
          contentType: "text",
          text: "",
          truncated: false,
          group: null,
          from: null,
          lastError: null,
          attributes: {},
          why: { reason: "leased", text: "It is leased.", until: SENT_AT, by: "mailer" },
        },
      ],
      cursor: "1-2-3",
      searched: 3,
      of: 9,
    });
  });

  it("asks for what the filter says, from the cursor on", async () => {
    const look = vi.fn(async () => replyOf([]));
    const filter = encodeURIComponent('state:ready "two words"');
    await ask(withQueue({ look }), `/queues/orders/messages?filter=${filter}&cursor=1-2-3&max=5`);
    expect(look).toHaveBeenCalledExactlyOnceWith("orders", {
      max: 5,
      cursor: "1-2-3",
      filter: [
        { field: "state", state: "ready" },
        { field: "body", text: "two words" },
      ],
    });
  });

  it("shows bodies that are text, up to a length, and says what is left out", async () => {
    // The two bytes of the last character are apart.
    const cut = Uint8Array.of(0x78, ...text(PREVIEW_BYTES_MAX / 2)).slice(0, PREVIEW_BYTES_MAX);
    const look = async () =>
      replyOf([
        lookedAt({ body: text(BODY_CHARACTERS_MAX) }),
        lookedAt({ body: text(BODY_CHARACTERS_MAX + 1) }),
        lookedAt({ body: cut, bodyBytes: PREVIEW_BYTES_MAX + 1 }),
        lookedAt({ body: new Uint8Array([255]), contentType: "bytes" }),
        lookedAt({ body: text(1), contentType: "v8" }),
      ]);
    const { body } = await ask(withQueue({ look }), "/queues/orders/messages");
    const shown = "ü".repeat(BODY_CHARACTERS_MAX);
    expect(body).toMatchObject({
      messages: [
        { text: shown, truncated: false, bytes: 2 * BODY_CHARACTERS_MAX },
        { text: shown, truncated: true },
        { text: `x${shown.slice(1)}`, truncated: true, bytes: PREVIEW_BYTES_MAX + 1 },
        { text: null, truncated: false, bytes: 1 },
        { text: null, truncated: false },
      ],
    });
  });

  it("shows bodies as a whole with ?whole=true", async () => {
    const body = text(2 * BODY_CHARACTERS_MAX);
    const look = vi.fn(async () => replyOf([lookedAt({ body })]));
    expect(await ask(withQueue({ look }), "/queues/orders/messages?whole=true")).toMatchObject({
      body: { messages: [{ text: "ü".repeat(2 * BODY_CHARACTERS_MAX), truncated: false, base64: null }] },
    });
    expect(look).toHaveBeenCalledExactlyOnceWith("orders", { max: 20, filter: [], isWhole: true });
  });

  it.each([
    ["max=1", 200],
    ["max=100", 200],
    ["max=0", 400],
    ["max=101", 400],
    ["max=-1", 400],
    ["max=1.5", 400],
    ["max=x", 400],
    ["max=", 400],
    ["cursor=1-2-3", 200],
    ["cursor=x", 400],
    ["cursor=1-2-3-4", 400],
    ["filter=lamp", 200],
    ["filter=", 200],
  ])("answers ?%s with %i", async (query, expected) => {
    const { status, body } = await ask(directoryOf(), `/queues/orders/messages?${query}`);
    expect(status).toBe(expected);
    if (expected === 400) expect(body).toMatchObject({ error: { code: expect.stringMatching(/^invalid_/) } });
  });

  it("shows how a finished message has ended, and how many there are", async () => {
    const end = { kind: "acked", atMs: SENT_MS, by: "mailer", error: null } as const;
    const finished = lookedAt({ state: "finished", end });
    const look = vi.fn(async () => replyOf([finished], { finished: 9 }));
    const { body } = await ask(withQueue({ look }), "/queues/orders/messages?filter=state:finished");
    expect(look).toHaveBeenCalledExactlyOnceWith("orders", {
      max: 20,
      filter: [{ field: "state", state: "finished" }],
    });
    expect(body).toMatchObject({
      finished: 9,
      messages: [
        {
          state: "finished",
          dueAt: null,
          leasedUntil: null,
          keptUntil: null,
          end: { kind: "acked", at: SENT_AT, by: "mailer", error: null },
        },
      ],
    });
  });

  it("names the column of what is wrong with a filter, and what would be right", async () => {
    expect(await ask(directoryOf(), "/queues/orders/messages?filter=lamp%20state:done")).toEqual({
      status: 400,
      body: {
        error: {
          code: "invalid_filter",
          message:
            'Column 12 of the filter: "done" is no state: state:ready, state:delayed, state:leased or state:finished.',
          column: 12,
        },
      },
    });
  });
});

describe("GET /queues/NAME/errors", () => {
  it("counts the messages that fit by their errors, without showing any", async () => {
    const errors = { groups: [{ error: "Error: no stock", count: 2 }], others: 1, none: 3 };
    const look = vi.fn(async () => replyOf([], { matched: 6, cursor: "1-2-3", searched: 8, errors }));
    expect(await ask(withQueue({ look }), "/queues/orders/errors?filter=error:stock")).toEqual({
      status: 200,
      body: { ...errors, matched: 6, searched: 8, of: 9 },
    });
    const filter = [{ field: "error", text: "stock" }];
    const request = { max: 0, filter, countsAll: true, countsErrors: true };
    expect(look).toHaveBeenCalledExactlyOnceWith("orders", request);
  });

  it("refuses a filter that cannot be read", async () => {
    expect(await ask(directoryOf(), "/queues/orders/errors?filter=error:")).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_filter", column: 7 } },
    });
  });
});

describe("GET /queues/NAME/messages/ID", () => {
  it("shows all of a body, in base64 where it is no text", async () => {
    const long = lookedAt({ body: text(5 * BODY_CHARACTERS_MAX) });
    const look = async () => replyOf([long]);
    expect(await ask(withQueue({ look }), `/queues/orders/messages/${ID}`)).toMatchObject({
      status: 200,
      body: { id: ID, text: "ü".repeat(5 * BODY_CHARACTERS_MAX), truncated: false, base64: null },
    });
    const bytes = async () =>
      replyOf([lookedAt({ body: new Uint8Array(100_000).fill(255), contentType: "bytes" })]);
    expect(await ask(withQueue({ look: bytes }), "/queues/orders/messages/r")).toMatchObject({
      body: { text: null, base64: Buffer.alloc(100_000, 255).toString("base64") },
    });
  });

  it.each([
    ["in our format", encodeBody({ when: new Date(0) }, "v8"), "{\n  when: Date 1970-01-01T00:00:00.000Z\n}"],
    ["in V8's own", Uint8Array.of(0xff, 0x0f, 0x49, 0x02), "1"],
    ["that cannot be read", Uint8Array.of(0xff), undefined],
  ])("lays a structured clone out: %s", async (_, body, value) => {
    const look = async () => replyOf([lookedAt({ body, contentType: "v8" })]);
    const { body: shown } = await ask(withQueue({ look }), `/queues/orders/messages/${ID}`);
    expect(shown).toMatchObject({ text: null, base64: Buffer.from(body).toString("base64") });
    expect((shown as { readonly value?: string }).value).toBe(value);
  });

  it("looks until it is found, or nothing is left", async () => {
    const replies = [
      replyOf([], { cursor: "1-2-3" }),
      replyOf([], { cursor: "4-5-6" }),
      replyOf([lookedAt()]),
    ];
    const look = vi.fn(async () => replies.shift() ?? replyOf([]));
    const directory = withQueue({ look });
    const request = { max: 1, only: [ID], isWhole: true };
    expect((await ask(directory, `/queues/orders/messages/${ID}`)).status).toBe(200);
    expect(look.mock.calls).toEqual([
      ["orders", request],
      ["orders", { ...request, cursor: "1-2-3" }],
      ["orders", { ...request, cursor: "4-5-6" }],
    ]);
    expect(await ask(directory, `/queues/orders/messages/${ID}`)).toMatchObject({
      status: 404,
      body: { error: { code: "message_not_found" } },
    });
  });
});

it("GET /queues/NAME/why says why the queue delivers nothing, and what else is wrong", async () => {
  const damaged: Why = { reason: "damaged", text: "Data is damaged.", untilMs: null, by: null };
  const why = async () => ({ ...PAUSED, also: [damaged] });
  expect(await ask(withQueue({ why }), "/queues/orders/why")).toEqual({
    status: 200,
    body: {
      reason: "paused",
      text: "Delivery is paused.",
      until: null,
      by: null,
      also: [{ reason: "damaged", text: "Data is damaged.", until: null, by: null }],
    },
  });
});

it.each(["messages", `messages/${ID}`, "errors", "why"])(
  "%s of a queue that does not exist is 404",
  async (path) => {
    expect(await ask(directoryOf(), `/queues/nothing/${path}`)).toMatchObject({
      status: 404,
      body: { error: { code: "queue_not_found" } },
    });
  },
);
