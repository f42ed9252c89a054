import type { WatchReply, WatchRequest } from "@sluice/protocol";
import { expect, it, vi } from "vitest";
import { DEAD, directoryOf, OPEN, ORDERS, queueWith } from "../../../test/directory.ts";
import { createGateway } from "../../index.ts";
import { STREAMS_MAX } from "./stream-routes.ts";

const API = "http://localhost:8787/__sluice/api";
const FIGURES: WatchReply["figures"] = {
  ...{ nowMs: 5, ready: 1, delayed: 0, leased: 0, backlogBytes: 4, oldestMessageTimestampMs: 0, isOn: true },
  ...{ totals: {}, tookMs: [] },
};

function gatewayOf() {
  const watch = vi.fn(async (_queue: string, _request: WatchRequest) => ({
    ...{ state: "s", last: 0, events: [], isGap: false, figures: FIGURES },
  }));
  const directory = { ...directoryOf({ orders: ORDERS, dead: DEAD }), queue: () => queueWith({ watch }) };
  return { watch, gateway: createGateway(directory, OPEN) };
}

/** The first frame of an answer, whose stream is then given up. */
async function firstFrame(response: Response) {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return JSON.parse(new TextDecoder().decode(value).slice("data: ".length));
}

it("streams all queues, or those that are named, with the kinds that are asked for", async () => {
  const { gateway, watch } = gatewayOf();
  const all = await gateway.request(`${API}/events`);
  expect(all.headers.get("content-type")).toBe("text/event-stream");
  expect((await firstFrame(all)).queues).toMatchObject([{ name: "dead" }, { name: "orders" }]);
  const one = await firstFrame(await gateway.request(`${API}/events?queue=orders&kind=failed,dropped`));
  expect(one).toMatchObject({ isSnapshot: true, queues: [{ name: "orders", messages: { ready: 1 } }] });
  expect(watch).toHaveBeenLastCalledWith("orders", {
    after: null,
    state: null,
    kinds: ["failed", "dropped"],
  });
});

it.each([
  ["/events?queue=none", 404, "queue_not_found"],
  ["/events?kind=eaten", 400, "invalid_query"],
])("%s is refused with %i", async (path, status, code) => {
  const response = await gatewayOf().gateway.request(API + path);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ error: { code } });
});

it("has a limit of streams that are open, and takes others when some have ended", async () => {
  const { gateway } = gatewayOf();
  const open = await Promise.all(Array.from({ length: STREAMS_MAX }, () => gateway.request(`${API}/events`)));
  expect((await gateway.request(`${API}/events`)).status).toBe(503);
  await open[0]?.body?.cancel();
  await vi.waitFor(async () => expect((await gateway.request(`${API}/events`)).status).toBe(200));
});

it("ends its streams with the broker", async () => {
  const { gateway } = gatewayOf();
  const reader = (await gateway.request(`${API}/events`)).body?.getReader();
  await reader?.read();
  await gateway.request(`${API}/stop`, { method: "POST" });
  expect(await reader?.read()).toMatchObject({ done: true });
  expect((await gateway.request(`${API}/events`)).status).toBe(503);
});
