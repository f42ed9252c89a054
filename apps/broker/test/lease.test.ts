import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type OpenBroker, openBroker } from "@sluice/broker-worker/open-broker";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

/* What brings messages in from another queue system, each once, and takes them out again. */

let folder: string;
let broker: OpenBroker;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-lease-"));
  broker = openBroker({ folder, worker: "broker", topology: { queues: {} }, vars: { SLUICE_ENV: "local" } });
  for (const name of ["orders", "orders.fifo"]) {
    const settings = { deliveryDelaySeconds: 0, messageRetentionSeconds: 3_600 };
    const fifo = name.endsWith(".fifo") ? { fifo: { contentBasedDeduplication: false } } : {};
    const queue = {
      name,
      settings: { ...settings, ...fifo },
      consumer: null,
      jurisdiction: null,
      dialects: {},
    };
    expect(await call("/backup/queues", queue)).toMatchObject({ status: 200 });
  }
});

afterEach(() => {
  broker.close();
  rmSync(folder, { recursive: true });
});

interface Leased {
  readonly id: string;
  readonly receipt: string;
}

async function call(path: string, body?: object) {
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await broker.gateway.request(`http://localhost/__sluice/api${path}`, init);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const idOf = (n: number) => `${n}`.padStart(32, "0");
const message = (n: number, more: object = {}) => ({
  id: idOf(n),
  sentAt: "2026-11-20T00:00:00.000Z",
  attempts: 0,
  contentType: "text",
  text: `${n}`,
  ...more,
});
const restore = (messages: object[], more: object, queue = "orders") =>
  call(`/backup/messages?queue=${queue}`, { messages, ...more });

async function lease(body: object, queue = "orders"): Promise<Leased[]> {
  const answer = await call(`/queues/${queue}/messages/lease`, body);
  expect(answer.status).toBe(200);
  return answer.body.messages as Leased[];
}

describe("messages that are restored once", () => {
  it("are stored by the first request, until one has them forgotten", async () => {
    const once = (messages: object[], forget: string[] = []) => restore(messages, { once: true, forget });
    expect((await once([message(1), message(2)])).body).toEqual({ restored: 2, duplicates: [] });
    expect((await once([message(2), message(3)], [idOf(1)])).body).toEqual({
      restored: 1,
      duplicates: [idOf(2)],
    });
    expect((await once([message(1)])).body).toEqual({ restored: 1, duplicates: [] });
    // Without `once` a backup comes in as often as it is imported.
    expect((await restore([message(1)], {})).body).toEqual({ restored: 1 });
  });

  it.each([{ once: 1 }, { once: true, forget: [7] }, { forget: Array(1_001).fill("") }])(
    "are refused with %j",
    async (more) => {
      expect(await restore([message(1)], more)).toMatchObject({
        status: 400,
        body: { error: { code: "invalid_body" } },
      });
    },
  );

  it("keep the order of a FIFO queue, and are not deduplicated by the ids of their senders", async () => {
    const of = (n: number) => message(n, { group: "g", deduplicationId: "same" });
    await restore([of(1), of(2)], { once: true }, "orders.fifo");
    await restore([of(2), of(3)], { once: true }, "orders.fifo");
    const leased = await lease({}, "orders.fifo");
    expect(leased.map(({ id }) => Number(id))).toEqual([1, 2, 3]);
  });

  it("are in a backup with the deduplication ids of their senders", async () => {
    const restored = message(1, { group: "g", deduplicationId: "same" });
    await restore([restored], {}, "orders.fifo");
    const { body } = await call("/backup/messages?queue=orders.fifo");
    expect(body.messages).toEqual([{ ...restored, delaySeconds: 0 }]);
  });
});

describe("leased messages", () => {
  it("are shown whole, are nobody else's, and are deleted or given back by their receipts", async () => {
    const attributes = { kind: { type: "String", value: "order" } };
    await restore([message(1, { attributes, attempts: 2 }), message(2, { base64: "/w==", text: null })], {});
    const [first, second] = await lease({ max: 100, leaseSeconds: 60 });
    expect(first).toEqual({
      ...message(1, { attributes, attempts: 2 }),
      delaySeconds: 0,
      receipt: expect.any(String),
    });
    expect(second).toMatchObject({ id: idOf(2), base64: "/w==" });
    expect(await lease({})).toEqual([]);
    const settled = { delete: [first?.receipt], release: [second?.receipt] };
    expect((await call("/queues/orders/messages/settle", settled)).body).toEqual({ deleted: 1, released: 1 });
    expect((await call("/queues/orders/messages/settle", settled)).body).toMatchObject({ released: 0 });
    // What is given back was not delivered.
    expect(await lease({})).toMatchObject([{ id: idOf(2), attempts: 0 }]);
  });

  it.each([
    [1, 1],
    [11, 11],
    [100, 100],
  ])("are %i at most where so many are asked for", async (max, count) => {
    await restore(
      Array.from({ length: 100 }, (_, n) => message(n)),
      {},
    );
    expect(await lease({ max })).toHaveLength(count);
  });

  it.each([
    ["lease", { max: 0 }],
    ["lease", { max: 101 }],
    ["lease", { leaseSeconds: 0 }],
    ["lease", { leaseSeconds: 43_201 }],
    ["settle", { delete: "all" }],
    ["settle", { release: Array(101).fill("") }],
  ])("/%s refuses %j", async (path, body) => {
    expect(await call(`/queues/orders/messages/${path}`, body)).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_body" } },
    });
  });
});
