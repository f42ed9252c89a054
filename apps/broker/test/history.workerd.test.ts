import { definition } from "@sluice/broker/testing/messages";
import { expect, it } from "vitest";
import { startBroker } from "./any-broker.ts";

/** Starts a broker without a consumer, with calls of it. */
async function brokerWith(queues: Readonly<Record<string, object>>) {
  const all = Object.fromEntries(Object.entries(queues).map(([name, more]) => [name, definition(more)]));
  const { origin } = await startBroker({ SLUICE_ENV: "development" }, { queues: all });
  const api = `${origin}/__sluice/api`;
  const send = (name: string, body: string) =>
    fetch(`${origin}/__sluice/aws/000000000000/${name}`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ Action: "SendMessage", MessageBody: body }),
    });
  const get = async (path: string) => (await fetch(api + path)).json() as Promise<Story>;
  return { api, send, get };
}

interface Story {
  readonly events: readonly {
    readonly kind: string;
    readonly ids: readonly string[];
    readonly by: string | null;
  }[];
}

interface Frame extends Story {
  readonly isSnapshot: boolean;
  readonly queues: readonly {
    readonly name: string;
    readonly messages: { readonly ready: number };
    readonly totals: object;
  }[];
}

/** Reads the frames of a stream one after the other. */
async function framesOf(url: string) {
  const abort = new AbortController();
  const response = await fetch(url, { signal: abort.signal });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = "";
  const next = async (): Promise<Frame | null> => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end !== -1) {
        const frame = text.slice(0, end);
        text = text.slice(end + 2);
        if (frame.startsWith("data: ")) return JSON.parse(frame.slice(6)) as Frame;
        continue;
      }
      const { done, value } = await reader.read();
      if (done) return null;
      text += decoder.decode(value, { stream: true });
    }
  };
  return { next, close: () => abort.abort() };
}

it("the history shows what happened in a queue, and to a message", async () => {
  const { send, get } = await brokerWith({ orders: {} });
  expect((await send("orders", "lamp")).status).toBe(200);
  const { events } = await get("/queues/orders/history");
  expect(events).toMatchObject([{ kind: "accepted", by: "SQS" }]);
  const story = await get(`/queues/orders/messages/${events[0]?.ids[0]}/story`);
  expect(story.events).toEqual(events);
});

it("the stream of a history shows events as they happen, and ends with the broker", async () => {
  const { api, send } = await brokerWith({ orders: {}, quiet: {} });
  const stream = await framesOf(`${api}/events`);
  expect(await stream.next()).toMatchObject({
    isSnapshot: true,
    queues: [{ name: "orders", messages: { ready: 0 } }, { name: "quiet" }],
    events: [],
  });
  for (const body of ["lamp", "vase"]) {
    await send("orders", body);
    expect(await stream.next()).toMatchObject({
      isSnapshot: false,
      queues: [{ name: "orders" }],
      events: [{ kind: "accepted", by: "SQS" }],
    });
  }
  const another = await framesOf(`${api}/events?queue=orders&kind=purged`);
  expect(await another.next()).toMatchObject({ queues: [{ name: "orders", messages: { ready: 2 } }] });
  await fetch(`${api}/queues/orders/purge`, { method: "POST" });
  expect(await another.next()).toMatchObject({
    events: [{ kind: "purged" }],
    queues: [{ messages: { ready: 0 } }],
  });
  stream.close();
  await fetch(`${api}/stop`, { method: "POST" });
  expect(await another.next()).toBeNull();
});
