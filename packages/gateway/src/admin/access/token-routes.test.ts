import type { LookRequest, NewMove } from "@sluice/protocol";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { DEAD, directoryOf, ORDERS, queueWith, recordOf } from "../../../test/directory.ts";
import { memoryTokens } from "../../../test/in-memory.ts";
import { createGateway, type Gateway } from "../../index.ts";
import type { NewTokenView, TokenView } from "./token-routes.ts";

const API = "http://localhost/__sluice/api";
const REST = "http://localhost/__sluice/client/v4/accounts/any";
const NOW_MS = 1_700_000_000_000;

let gateway: Gateway;

beforeEach(() => {
  vi.useFakeTimers({ now: NOW_MS, toFake: ["Date"] });
  const directory = directoryOf({ orders: ORDERS, dead: DEAD, "mail-in": DEAD });
  const tokens = memoryTokens();
  gateway = createGateway({ ...directory, tokens }, { kind: "tokens", tokens: ["first"] });
  return () => vi.useRealTimers();
});

type TokenResponse = { readonly status: number; readonly headers: Headers; readonly body: never };

async function ask(token: string, method: string, url: string, body?: unknown): Promise<TokenResponse> {
  const headers = { authorization: `Bearer ${token}` };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await gateway.request(url, { method, headers, ...sent });
  return { status: response.status, headers: response.headers, body: (await response.json()) as never };
}

async function create(body: object): Promise<NewTokenView> {
  const { status, body: made } = await ask("first", "POST", `${API}/tokens`, body);
  expect(status).toBe(200);
  return made;
}

async function codeOf(answer: Promise<TokenResponse>): Promise<unknown[]> {
  const { status, body } = await answer;
  return [status, (body as { error: { code: string } }).error.code];
}

describe("POST /tokens", () => {
  it("makes a secret of 32 bytes, which is told once", async () => {
    const made = await create({
      name: "shop",
      scopes: ["send"],
      queues: ["orders", "mail*"],
      expiresInSeconds: 3_600,
      ratePerSecond: 5,
    });
    const token = {
      name: "shop",
      scopes: ["send"],
      queues: ["orders", "mail*"],
      ratePerSecond: 5,
      expiresAt: "2023-11-14T23:13:20.000Z",
      oldSecretUntil: null,
      accessKeyId: null,
      createdAt: "2023-11-14T22:13:20.000Z",
      changedAt: "2023-11-14T22:13:20.000Z",
    };
    expect(made).toEqual({ token, secret: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/) });
    const list = await ask("first", "GET", `${API}/tokens`);
    expect(list.body).toEqual({ tokens: [token] });
    const again = await create({ name: "other", scopes: ["send"] });
    expect(again.secret).not.toBe(made.secret);
  });

  it.each([
    {},
    { name: "shop" },
    { name: "shop", scopes: [] },
    { name: "shop", scopes: ["write"] },
    { name: "", scopes: ["read"] },
    { name: "Shop", scopes: ["read"] },
    { name: "a".repeat(65), scopes: ["read"] },
    { name: "shop", scopes: ["read"], queues: [] },
    { name: "shop", scopes: ["read"], queues: [""] },
    { name: "shop", scopes: ["read"], queues: ["a*b"] },
    { name: "shop", scopes: ["read"], queues: Array.from({ length: 101 }, (_, i) => `q${i}`) },
    { name: "shop", scopes: ["read"], expiresInSeconds: 0 },
    { name: "shop", scopes: ["read"], expiresInSeconds: 315_360_001 },
    { name: "shop", scopes: ["read"], ratePerSecond: 0 },
    { name: "shop", scopes: ["read"], ratePerSecond: 100_001 },
    { name: "shop", scopes: ["read"], secret: "mine" },
  ])("refuses %j", async (body) => {
    expect(await codeOf(ask("first", "POST", `${API}/tokens`, body))).toEqual([400, "invalid_body"]);
  });

  it.each([...["local", "anonymous", "configuration", "process", "sluice_api_tokens", "sluice_anything"]])(
    "refuses the name %s, which the audit log would take for another",
    async (name) => {
      const refused = await ask("first", "POST", `${API}/tokens`, { name, scopes: ["read"] });
      expect(refused).toMatchObject({
        status: 400,
        body: { error: { code: "reserved_name", message: expect.stringContaining(`"${name}"`) } },
      });
    },
  );

  it("takes what is just within its limits", async () => {
    const queues = Array.from({ length: 100 }, (_, i) => `q${i}*`);
    const limits = { expiresInSeconds: 315_360_000, ratePerSecond: 100_000 };
    await create({ name: "a".repeat(64), scopes: ["read", "send", "consume", "admin"], queues, ...limits });
  });

  it("refuses a name that is taken", async () => {
    await create({ name: "shop", scopes: ["send"] });
    const again = ask("first", "POST", `${API}/tokens`, { name: "shop", scopes: ["admin"] });
    expect(await codeOf(again)).toEqual([409, "token_exists"]);
  });
});

describe("a token", () => {
  it("a token that is revoked lets no request in any more", async () => {
    const { secret } = await create({ name: "shop", scopes: ["read"] });
    expect(await ask(secret, "GET", `${API}/queues`)).toMatchObject({ status: 200 });
    const revoked = await ask("first", "DELETE", `${API}/tokens/shop`);
    expect(revoked).toMatchObject({ status: 200, body: { name: "shop", revoked: true } });
    expect(await codeOf(ask(secret, "GET", `${API}/queues`))).toEqual([401, "unauthorized"]);
    expect(await codeOf(ask("first", "DELETE", `${API}/tokens/shop`))).toEqual([404, "token_not_found"]);
  });

  it("a token that another gateway has revoked ends with the answer that there is none", async () => {
    const tokens = memoryTokens();
    gateway = createGateway({ ...directoryOf({}), tokens }, { kind: "tokens", tokens: ["first"] });
    const { secret } = await create({ name: "shop", scopes: ["read"] });
    expect(await ask(secret, "GET", `${API}/queues`)).toMatchObject({ status: 200 });
    await tokens.deleteToken("shop");
    expect(await codeOf(ask("first", "DELETE", `${API}/tokens/shop`))).toEqual([404, "token_not_found"]);
    expect(await codeOf(ask(secret, "GET", `${API}/queues`))).toEqual([401, "unauthorized"]);
  });

  it("a token whose revocation is done without an answer lets no request in any more", async () => {
    const tokens = memoryTokens();
    const { deleteToken } = tokens;
    tokens.deleteToken = async (name) => {
      await deleteToken(name);
      throw new Error("the connection is lost");
    };
    gateway = createGateway({ ...directoryOf({}), tokens }, { kind: "tokens", tokens: ["first"] });
    const { secret } = await create({ name: "shop", scopes: ["read"] });
    expect(await ask(secret, "GET", `${API}/queues`)).toMatchObject({ status: 200 });
    expect(await ask("first", "DELETE", `${API}/tokens/shop`)).toMatchObject({ status: 500 });
    expect(await codeOf(ask(secret, "GET", `${API}/queues`))).toEqual([401, "unauthorized"]);
  });

  it.each([
    [undefined, 86_400],
    [{}, 86_400],
    [{ graceSeconds: 60 }, 60],
    [{ graceSeconds: 2_592_000 }, 2_592_000],
  ])("a token that is rotated by %j has two secrets for %i s", async (body, seconds) => {
    const { secret } = await create({ name: "shop", scopes: ["read"] });
    const rotated = await ask("first", "POST", `${API}/tokens/shop/rotate`, body);
    const { token, secret: next }: NewTokenView = rotated.body;
    expect(token.oldSecretUntil).toBe(new Date(NOW_MS + 1_000 * seconds).toISOString());
    const statuses = async () => {
      const answers = [secret, next].map((one) => ask(one, "GET", `${API}/queues`));
      return (await Promise.all(answers)).map(({ status }) => status);
    };
    expect(await statuses()).toEqual([200, 200]);
    vi.setSystemTime(NOW_MS + 1_000 * seconds);
    expect(await statuses()).toEqual([401, 200]);
    const { tokens }: { tokens: TokenView[] } = (await ask("first", "GET", `${API}/tokens`)).body;
    expect(tokens).toMatchObject([{ name: "shop", oldSecretUntil: null }]);
  });

  it("a token that is rotated without a grace period has one secret", async () => {
    const { secret } = await create({ name: "shop", scopes: ["read"] });
    await ask("first", "POST", `${API}/tokens/shop/rotate`, { graceSeconds: 0 });
    expect(await codeOf(ask(secret, "GET", `${API}/queues`))).toEqual([401, "unauthorized"]);
  });

  it.each([{ graceSeconds: -1 }, { graceSeconds: 2_592_001 }, { grace: 1 }, null])(
    "is not rotated by %j",
    async (body) => {
      await create({ name: "shop", scopes: ["read"] });
      const rotated = ask("first", "POST", `${API}/tokens/shop/rotate`, body);
      expect(await codeOf(rotated)).toEqual([400, "invalid_body"]);
    },
  );

  it("a token without the scope is told which one it needs, in the words of each API", async () => {
    const { secret } = await create({ name: "shop", scopes: ["send"] });
    const text = 'The token "shop" may not do that: it needs the scope read, and has send.';
    expect(await ask(secret, "GET", `${API}/queues`)).toMatchObject({
      status: 403,
      body: { error: { code: "forbidden", message: text } },
    });
    expect(await ask(secret, "GET", `${REST}/queues`)).toMatchObject({
      status: 403,
      body: { success: false, errors: [{ code: 10000, message: text }] },
    });
  });

  it("a token that asks too often is told when to ask again, in the words of each API", async () => {
    const { secret } = await create({ name: "shop", scopes: ["read"], ratePerSecond: 1 });
    expect(await ask(secret, "GET", `${API}/queues`)).toMatchObject({ status: 200 });
    const admin = await ask(secret, "GET", `${API}/queues`);
    expect(admin).toMatchObject({ status: 429, body: { error: { code: "rate_limited" } } });
    expect(admin.headers.get("retry-after")).toBe("1");
    const rest = await ask(secret, "GET", `${REST}/queues`);
    expect(rest).toMatchObject({ status: 429, body: { success: false, errors: [{ code: 971 }] } });
    expect(rest.headers.get("retry-after")).toBe("1");
  });
});

describe("a token that is an access key", () => {
  it("has an id and a secret, and another of both when it is rotated", async () => {
    const made = await create({ name: "jobs", scopes: ["send"], aws: true });
    expect(made.token.accessKeyId).toMatch(/^SLUICE[0-9A-F]{14}$/);
    expect(made.secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const { body } = await ask("first", "POST", `${API}/tokens/jobs/rotate`);
    const rotated: NewTokenView = body;
    expect(rotated.token.accessKeyId).toMatch(/^SLUICE[0-9A-F]{14}$/);
    expect(rotated.token.accessKeyId).not.toBe(made.token.accessKeyId);
    expect(rotated.secret).not.toBe(made.secret);
    const listed = await ask("first", "GET", `${API}/tokens`);
    expect(JSON.stringify(listed.body)).not.toContain(rotated.secret);
  });

  it("is no token of the other APIs", async () => {
    const { secret } = await create({ name: "jobs", scopes: ["admin"], aws: true });
    expect(await codeOf(ask(secret, "GET", `${API}/queues`))).toEqual([401, "unauthorized"]);
  });
});

describe("a token for some queues", () => {
  const names = (list: readonly { name?: string; queue_name?: string }[]) =>
    list.map(({ name, queue_name }) => name ?? queue_name);

  it("sees those in lists, and no others", async () => {
    const { secret } = await create({ name: "shop", scopes: ["read"], queues: ["orders", "mail*"] });
    const admin = (await ask(secret, "GET", `${API}/queues`)).body as { queues: { name: string }[] };
    expect(names(admin.queues)).toEqual(["mail-in", "orders"]);
    const rest = (await ask(secret, "GET", `${REST}/queues`)).body as { result: { queue_name: string }[] };
    expect(names(rest.result)).toEqual(["mail-in", "orders"]);
  });

  it("leads no message and no dead letter to another queue", async () => {
    const { secret } = await create({ name: "shop", scopes: ["admin"], queues: ["dead", "mail*"] });
    const moved = ask(secret, "POST", `${API}/queues/dead/redrive`, { to: "orders" });
    expect(await codeOf(moved)).toEqual([403, "forbidden"]);
    const resent = ask(secret, "POST", `${API}/queues/dead/messages/ID/resend`, { to: "orders" });
    expect(await codeOf(resent)).toEqual([403, "forbidden"]);
    const { queueId } = recordOf("mail-in", DEAD);
    const consumer = { type: "http_pull", dead_letter_queue: "orders" };
    expect(await ask(secret, "POST", `${REST}/queues/${queueId}/consumers`, consumer)).toMatchObject({
      status: 403,
    });
  });

  it("moves dead letters back to its own queues alone, and a dry run counts no others", async () => {
    const started: NewMove[] = [];
    const looked: LookRequest[] = [];
    const queue = () =>
      queueWith({
        startMove: async (_queue, move) => {
          started.push(move);
          return { ok: false, reason: "active" };
        },
        look: async (_queue, request) => {
          looked.push(request);
          return { messages: [], matched: 0, cursor: null, searched: 0, of: 0 };
        },
      });
    const directory = directoryOf({ orders: ORDERS, dead: DEAD, "mail-in": DEAD });
    gateway = createGateway(
      { ...directory, tokens: memoryTokens(), queue },
      { kind: "tokens", tokens: ["first"] },
    );
    const { secret } = await create({ name: "shop", scopes: ["admin"], queues: ["dead", "mail*"] });
    const redrive = (token: string, body: object) => ask(token, "POST", `${API}/queues/dead/redrive`, body);
    await redrive(secret, {});
    await redrive(secret, { dryRun: true });
    await redrive(secret, { to: "mail-in" });
    await redrive("first", {});
    const limits = { fallback: "orders", mayReach: ["dead", "mail*"] };
    expect(started.map(({ taskId: _, ...move }) => move)).toEqual([
      { target: null, ratePerSecond: null, ...limits },
      { target: "mail-in", ratePerSecond: null },
      { target: null, ratePerSecond: null, fallback: "orders" },
    ]);
    expect(looked).toMatchObject([{ returning: limits }]);
  });

  it("watches no other queue", async () => {
    const watched: string[] = [];
    const directory = directoryOf({ orders: ORDERS, dead: DEAD, "mail-in": DEAD });
    const tokens = memoryTokens();
    const queue = (name: string) => {
      watched.push(name);
      return queueWith({ watch: () => Promise.reject(new Error("nothing to see")) });
    };
    gateway = createGateway({ ...directory, tokens, queue }, { kind: "tokens", tokens: ["first"] });
    const { secret } = await create({ name: "shop", scopes: ["read"], queues: ["mail*"] });
    expect(await codeOf(ask(secret, "GET", `${API}/events?queue=orders`))).toEqual([403, "forbidden"]);
    const headers = { authorization: `Bearer ${secret}` };
    const stream = await gateway.request(`${API}/events`, { headers });
    const reader = stream.body?.getReader();
    await reader?.read();
    await vi.waitFor(() => expect(watched).toContain("mail-in"));
    await reader?.cancel();
    expect(new Set(watched)).toEqual(new Set(["mail-in"]));
  });
});
