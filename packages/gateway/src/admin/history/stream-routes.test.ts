import type { WatchReply, WatchRequest } from "@sluice/protocol";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { DEAD, directoryOf, eventOf, FIGURES, OPEN, ORDERS, queueWith } from "../../../test/directory.ts";
import { memoryTokens } from "../../../test/in-memory.ts";
import { createGateway } from "../../index.ts";
import { sha256Of } from "../../rights/digest.ts";
import { TOKENS_KEPT_MS } from "../../rights/kept-tokens.ts";
import { LOOK_MS, SILENCE_MS } from "./event-stream.ts";
import { STREAMS_MAX, STREAMS_OF_TOKEN_MAX } from "./stream-routes.ts";

const API = "http://localhost:8787/__sluice/api";

function gatewayOf() {
  const watch = vi.fn(async (_queue: string, _request: WatchRequest) => ({
    state: "s",
    last: 0,
    events: [],
    isGap: false,
    figures: FIGURES,
  }));
  const directory = { ...directoryOf({ orders: ORDERS, dead: DEAD }), queue: () => queueWith({ watch }) };
  return { watch, gateway: createGateway(directory, OPEN) };
}

/** A broker with tokens, and what they can do with it. */
async function gatewayWithTokens(...names: string[]) {
  const tokens = memoryTokens(() => Date.now());
  const waiting: ((reply: WatchReply) => void)[] = [];
  const add = async (
    name: string,
    expiresInMs: number | null,
    ratePerSecond: number | null,
    queues: readonly string[] = [],
  ) => {
    await tokens.deleteToken(name);
    await tokens.createToken({
      name,
      secret: { kind: "bearer", sha256: await sha256Of(name) },
      scopes: ["read"],
      queues,
      expiresAtMs: expiresInMs === null ? null : Date.now() + expiresInMs,
      ratePerSecond,
    });
  };
  for (const name of names) await add(name, null, null);
  const watch = (_queue: string, { after }: WatchRequest) =>
    after === null
      ? Promise.resolve({ state: "s", last: 0, events: [], isGap: false, figures: FIGURES })
      : new Promise<WatchReply>((resolve) => waiting.push(resolve));
  const { account, ...others } = directoryOf({ orders: ORDERS });
  const list = vi.fn(account.list);
  const directory = { ...others, account: { ...account, list }, queue: () => queueWith({ watch }), tokens };
  const gateway = createGateway(directory, { kind: "tokens", tokens: ["first"] });
  return {
    /** Reads the queues of a stream, after its token was checked. */
    list,
    waiting,
    /** Gives a token other queues. */
    narrow: (name: string, queues: readonly string[]) => add(name, null, null, queues),
    revoke: (name: string) => tokens.deleteToken(name),
    /** Opens a stream, with a token that ends or has a rate if that is said. */
    open: async (name: string, expiresInMs: number | null = null, ratePerSecond: number | null = null) => {
      if (expiresInMs || ratePerSecond) await add(name, expiresInMs, ratePerSecond);
      return gateway.request(`${API}/events`, { headers: { authorization: `Bearer ${name}` } });
    },
  };
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

describe("streams that are open at a time", () => {
  it("streams that are open at a time are limited, and others are taken when some have ended", async () => {
    const { gateway } = gatewayOf();
    const open = await Promise.all(
      Array.from({ length: STREAMS_MAX }, () => gateway.request(`${API}/events`)),
    );
    expect(open.map(({ status }) => status)).toEqual(Array(STREAMS_MAX).fill(200));
    expect((await gateway.request(`${API}/events`)).status).toBe(503);
    await open[0]?.body?.cancel();
    await vi.waitFor(async () => expect((await gateway.request(`${API}/events`)).status).toBe(200));
  });

  it("streams that are open at a time are fewer when a client has gone, also where nothing cancels the body", async () => {
    const { gateway } = gatewayOf();
    const gone = new AbortController();
    const { signal } = gone;
    for (let i = 0; i < STREAMS_MAX; i++) await gateway.request(`${API}/events`, { signal });
    expect((await gateway.request(`${API}/events`)).status).toBe(503);
    gone.abort();
    await vi.waitFor(async () => expect((await gateway.request(`${API}/events`)).status).toBe(200));
    expect((await gateway.request(`${API}/events`, { signal })).status).toBe(200);
  });

  it("streams that are open at a time are none by requests for the head of one", async () => {
    const { gateway } = gatewayOf();
    for (let i = 0; i <= STREAMS_MAX; i++) {
      const { status, headers } = await gateway.request(`${API}/events`, { method: "HEAD" });
      expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    }
    expect((await gateway.request(`${API}/events`)).status).toBe(200);
  });

  it("streams that are open at a time have a share for each token, so that none has all of them", async () => {
    const { open } = await gatewayWithTokens("shop", "other");
    const opened: Response[] = [];
    for (let i = 0; i < STREAMS_OF_TOKEN_MAX; i++) opened.push(await open("shop"));
    expect(opened.map(({ status }) => status)).toEqual(Array(STREAMS_OF_TOKEN_MAX).fill(200));
    const refused = await open("shop");
    expect([refused.status, await refused.json()]).toMatchObject([
      429,
      { error: { code: "too_many_streams", message: expect.stringContaining('"shop"') } },
    ]);
    expect((await open("other")).status).toBe(200);
    await opened[0]?.body?.cancel();
    await vi.waitFor(async () => expect((await open("shop")).status).toBe(200));
  });
});

describe("a stream whose token counts no longer", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: 1_700_000_000_000 });
    return () => vi.useRealTimers();
  });

  it.each([
    ["is revoked", 0],
    ["expires", 60_000],
  ])("ends with the reason when it %s", async (_, expiresInMs) => {
    const { open, revoke } = await gatewayWithTokens("shop");
    const reader = (await open("shop", expiresInMs)).body?.getReader();
    const read = async () => new TextDecoder().decode((await reader?.read())?.value);
    expect(await read()).toContain('"isSnapshot":true');
    if (expiresInMs === 0) await revoke("shop");
    else vi.setSystemTime(Date.now() + expiresInMs);
    const next = read();
    await vi.advanceTimersByTimeAsync(LOOK_MS + TOKENS_KEPT_MS);
    expect(await next).toMatch(/^event: end\ndata: \{"code":"unauthorized","message":"/);
    expect(await reader?.read()).toMatchObject({ done: true });
  });

  it("hides the names of queues that its token may use no more", async () => {
    const { open, narrow, list, waiting } = await gatewayWithTokens("shop");
    const reader = (await open("shop")).body?.getReader();
    await reader?.read();
    const next = reader?.read();
    await narrow("shop", ["orders"]);
    const seen = list.mock.calls.length;
    await vi.advanceTimersByTimeAsync(LOOK_MS + TOKENS_KEPT_MS);
    await vi.waitFor(() => expect(list.mock.calls.length).toBeGreaterThan(seen));
    const event = eventOf({ kind: "deadLettered", to: "secret" });
    waiting[0]?.({ state: "s", last: 1, events: [event], isGap: false, figures: FIGURES });
    await vi.advanceTimersByTimeAsync(LOOK_MS);
    const text = new TextDecoder().decode((await next)?.value);
    expect(text).toContain('"to":"(another queue)"');
    expect(text).not.toContain("secret");
  });

  it("is not held against the token's rate", async () => {
    const { open } = await gatewayWithTokens("shop");
    const reader = (await open("shop", null, 1)).body?.getReader();
    await reader?.read();
    const next = reader?.read();
    await vi.advanceTimersByTimeAsync(LOOK_MS);
    expect((await open("shop")).status).toBe(200);
    await vi.advanceTimersByTimeAsync(SILENCE_MS);
    expect(new TextDecoder().decode((await next)?.value)).toMatch(/^: /);
  });
});

it("ends its streams with the broker", async () => {
  const { gateway } = gatewayOf();
  const reader = (await gateway.request(`${API}/events`)).body?.getReader();
  await reader?.read();
  await gateway.request(`${API}/stop`, { method: "POST" });
  expect(await reader?.read()).toMatchObject({ done: true });
  expect((await gateway.request(`${API}/events`)).status).toBe(503);
});
