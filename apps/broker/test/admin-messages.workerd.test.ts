import { definition, pullConsumer } from "@sluice/broker/testing/messages";
import type { PullConsumerSettings } from "@sluice/protocol";
import { beforeAll, expect, it } from "vitest";
import { startSharedBroker } from "./any-broker.ts";

/* Messages for the operator of a broker, by the admin API of a real one. */

const pulled = (settings: Partial<PullConsumerSettings> = {}) =>
  definition({ consumer: pullConsumer({ maxRetries: 0, deadLetterQueue: "dead", ...settings }) });
const QUEUES = {
  orders: pulled(),
  acted: pulled({ maxRetries: 9 }),
  failing: pulled({ deadLetterQueue: "letters" }),
  letters: definition(),
  dead: definition(),
  idle: definition(),
};

let origin: string;
/** Ids of the queues by their names. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  const broker = await startSharedBroker({ SLUICE_ENV: "development" }, { queues: QUEUES });
  origin = broker.origin;
  const { queues } = await ask("/queues");
  for (const { name, id } of queues as { name: string; id: string }[]) ids[name] = id;
  return broker.dispose;
});

async function ask(path: string, method = "GET", body?: object) {
  const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const response = await fetch(`${origin}/__sluice/api${path}`, init);
  return (await response.json()) as Record<string, unknown> & { messages: Record<string, unknown>[] };
}

/** Calls the REST API for the messages of a queue. */
async function rest(queue: string, call: string, body: object) {
  const at = `${origin}/__sluice/client/v4/accounts/any/queues/${ids[queue]}/messages${call}`;
  const response = await fetch(at, { method: "POST", body: JSON.stringify(body) });
  return ((await response.json()) as { result: Record<string, unknown> }).result;
}

const list = (queue: string, filter = "") =>
  ask(`/queues/${queue}/messages?filter=${encodeURIComponent(filter)}`);

it("the admin API shows messages in every state with the reason, and changes nothing", async () => {
  await rest("orders", "", { body: { order: 1, item: "brass lamp" } });
  await rest("orders", "", { body: "a vase", content_type: "text", delay_seconds: 600 });
  await rest("orders", "/pull", { batch_size: 1 });
  await rest("orders", "", { body: { order: 2, item: "paper lamp" } });
  const all = await list("orders");
  expect(all).toMatchObject({ cursor: null, searched: 3, of: 3 });
  const { now } = (await ask("/queues/orders")) as unknown as { now: string };
  expect([all.now, now].sort()).toEqual([all.now, now]);
  expect(
    all.messages.map(({ state, why, text }) => [state, (why as { reason: string }).reason, text]),
  ).toEqual(
    expect.arrayContaining([
      ["leased", "leased", '{"order":1,"item":"brass lamp"}'],
      ["delayed", "delayed", "a vase"],
      ["ready", "awaitsPull", '{"order":2,"item":"paper lamp"}'],
    ]),
  );
  expect((await list("orders", "lamp state:ready")).messages).toMatchObject([
    { text: expect.stringContaining("paper") },
  ]);
  const [vase] = (await list("orders", "state:delayed")).messages;
  expect(await ask(`/queues/orders/messages/${vase?.id}`)).toMatchObject({ text: "a vase", ref: vase?.ref });
  expect(await ask(`/queues/orders/messages/${vase?.ref}`)).toMatchObject({ id: vase?.id });
  expect(await ask("/queues/orders/why")).toMatchObject({ reason: "awaitsPull", also: [] });
  expect(await ask("/queues/idle/why")).toMatchObject({ reason: "empty" });
  expect(await ask("/queues/orders")).toMatchObject({ messages: { ready: 1, delayed: 1, leased: 1 } });

  const rowsWritten = async () =>
    ((await ask("/queues/orders")).storage as { rowsWritten: number }).rowsWritten;
  // A queue writes down once, soon after its last commit, how far it has come.
  await expect
    .poll(async () => {
      const before = await rowsWritten();
      await list("orders", "lamp state:ready");
      await ask(`/queues/orders/messages/${vase?.ref}`);
      await ask("/queues/orders/why");
      return (await rowsWritten()) - before;
    })
    .toBe(0);
});

it("a message is sent, changed and sent again, delivered now, and deleted", async () => {
  const { id } = await ask("/queues/acted/messages", "POST", { body: { n: 1 }, delaySeconds: 600 });
  expect((await list("acted")).messages).toMatchObject([{ id, state: "delayed", text: '{"n":1}' }]);
  const copy = await ask(`/queues/acted/messages/${id}/resend`, "POST", {
    body: { n: 2 },
    delaySeconds: 600,
  });
  expect(await ask(`/queues/acted/messages/${id}/retry`, "POST")).toEqual({ id, wasDue: false });
  expect(await rest("acted", "/pull", {})).toMatchObject({ messages: [{ id, attempts: 1 }] });
  expect(await ask(`/queues/acted/messages/${id}/retry`, "POST")).toEqual({ id, wasDue: false });
  const pulled = await rest("acted", "/pull", {});
  expect(pulled).toMatchObject({ messages: [{ id, attempts: 2 }] });
  expect(await ask(`/queues/acted/messages/${id}`, "DELETE")).toEqual({ id, deleted: true });
  const [{ lease_id } = { lease_id: "" }] = pulled.messages as { lease_id: string }[];
  expect(await rest("acted", "/ack", { acks: [{ lease_id }] })).toMatchObject({ ackCount: 0 });
  expect((await list("acted")).messages).toMatchObject([{ id: copy.id, text: '{"n":2}' }]);
});

it("the dead letters of a filter are moved, after a dry run", async () => {
  for (const item of ["lamp", "vase", "red lamp"]) await rest("failing", "", { body: { item } });
  await rest("failing", "/pull", { batch_size: 10, visibility_timeout_ms: 0 });
  await ask("/clock", "POST", { advanceMs: 1_000 });
  const letters = async () => (await list("letters")).messages.map(({ text }) => text);
  await expect.poll(async () => (await letters()).length).toBe(3);
  const wanted = { filter: "lamp from:failing" };
  expect(await ask("/queues/letters/redrive", "POST", { ...wanted, dryRun: true })).toMatchObject({
    dryRun: true,
    count: 2,
    cursor: null,
    of: 3,
    messages: [{ text: expect.stringContaining("lamp") }, { text: expect.stringContaining("lamp") }],
  });
  await ask("/queues/letters/redrive", "POST", wanted);
  await expect.poll(async () => (await list("failing")).messages.length).toBe(2);
  expect(await letters()).toEqual(['{"item":"vase"}']);
  expect(await ask("/queues/letters")).toMatchObject({
    lastMove: { status: "completed", moved: 2, toMove: 2 },
  });
});

it("a search goes through many messages page by page", async () => {
  for (let i = 0; i < 5; i++) {
    const messages = Array.from({ length: 100 }, (_, k) => ({ body: { n: 100 * i + k } }));
    await rest("dead", "/batch", { messages });
  }
  const filter = encodeURIComponent('"n\\":1"');
  const found: unknown[] = [];
  let cursor = "";
  do {
    const page = await ask(`/queues/dead/messages?max=7&filter=${filter}${cursor && `&cursor=${cursor}`}`);
    found.push(...page.messages.map(({ text }) => text));
    cursor = String(page.cursor ?? "");
  } while (cursor !== "");
  // 1, 10 to 19, and 100 to 199 match.
  expect(new Set(found).size).toBe(111);
  expect(found).toHaveLength(111);
});
