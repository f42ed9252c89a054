import type { AuditPage, NewTokenView, QueueView, TokenView } from "@sluice/gateway/views";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BrokerLab } from "./broker-lab.ts";

const open = new BrokerLab();
const locked = new BrokerLab();
let url: string;

beforeAll(async () => {
  await open.serve();
  url = await locked.serve({ SLUICE_API_TOKENS: "first" });
});
afterAll(() => Promise.all([open.close(), locked.close()]));

const having = (token: string) => ({ env: { SLUICE_API_TOKEN: token } });
const FIRST = having("first");

describe("sluice tokens on a broker that asks for no token", () => {
  it("lists what was created, without secrets", async () => {
    expect(await open.words(0, ["tokens", "list"])).toContain("The broker keeps no tokens yet.");
    const created = await open.run([
      ...["tokens", "create", "shop", "--scope", "read", "send", "--queue", "orders", "--queue", "mail-*"],
      ...["--expires", "30d", "--rate", "50"],
    ]);
    expect(created.code).toBe(0);
    expect(created.err).toContain(
      "Created token shop: read, send on orders, mail-*, 50 requests a second, until",
    );
    const secret = created.out.trim();
    expect(secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const list = await open.run(["tokens", "list"]);
    expect(list.out).toMatch(
      /^token +access key +scopes +queues +rate +expires +changed\nshop +- +read,send +orders,mail-\* +50\/s/,
    );
    expect(list.out).not.toContain(secret);
    expect(await open.json<TokenView[]>(["tokens", "list"])).toMatchObject([
      { name: "shop", scopes: ["read", "send"], queues: ["orders", "mail-*"], ratePerSecond: 50 },
    ]);
  });

  it("refuses an unknown scope, and none, as usage errors", async () => {
    expect(await open.run(["tokens", "create", "a", "--scope", "write"])).toMatchObject({ code: 2, out: "" });
    expect(await open.run(["tokens", "create", "a"])).toMatchObject({ code: 2, out: "" });
    expect(await open.run(["tokens", "create", "A", "--scope", "read"])).toMatchObject({ code: 1, out: "" });
  });

  it("asks for the name before it revokes", async () => {
    await open.run(["tokens", "create", "typed", "--scope", "read"]);
    expect(await open.run(["tokens", "revoke", "typed"])).toMatchObject({ code: 5 });
    expect(await open.run(["tokens", "revoke", "typed"], { types: "other" })).toMatchObject({ code: 5 });
    expect(await open.run(["tokens", "revoke", "typed"], { types: "typed" })).toMatchObject({ code: 0 });
    expect(await open.run(["tokens", "revoke", "typed", "--force"])).toMatchObject({ code: 4 });
    expect(await open.run(["tokens", "rotate", "typed"])).toMatchObject({ code: 4 });
  });
});

describe("sluice tokens on a broker that asks for a token", () => {
  async function create(...args: string[]): Promise<string> {
    return (await locked.json<NewTokenView>(["tokens", "create", ...args], FIRST)).secret;
  }

  it("creates tokens of the first administrator, which have their scopes", async () => {
    await locked.run(["queues", "create", "orders"], FIRST);
    await locked.run(["queues", "create", "mails"], FIRST);
    const sender = await create("sender", "--scope", "send", "--queue", "orders");
    const send = (queue: string, token: string) =>
      locked.run(["messages", "send", queue, "--body", "1"], having(token));
    expect(await send("orders", sender)).toMatchObject({ code: 0 });
    const other = await send("mails", sender);
    expect(other).toMatchObject({ code: 1 });
    expect(other.err).toContain('The token "sender" is for orders, and not for the queue "mails".');
    const looked = await locked.run(["queues", "list"], having(sender));
    expect(looked.err).toContain(
      'The token "sender" may not do that: it needs the scope read, and has send.',
    );
    const reader = await create("reader", "--scope", "read", "--queue", "orders");
    const seen = await locked.json<QueueView[]>(["queues", "list"], having(reader));
    expect(seen.map(({ name }) => name)).toEqual(["orders"]);
    expect(await locked.run(["tokens", "list"], having(reader))).toMatchObject({ code: 1, out: "" });
  });

  it("lets tokens of the scope admin create others, and may have no other tokens", async () => {
    const admin = await create("admin", "--scope", "admin");
    const made = await locked.json<NewTokenView>(
      ["tokens", "create", "made", "--scope", "read"],
      having(admin),
    );
    expect(await locked.json(["queues", "list"], having(made.secret))).not.toEqual([]);
    const limited = await create("limited", "--scope", "admin", "--queue", "orders");
    expect(await locked.run(["tokens", "create", "more", "--scope", "admin"], having(limited))).toMatchObject(
      { code: 1, out: "" },
    );
  });

  it("rotates tokens without downtime, and ends revoked ones at once", async () => {
    const old = await create("rotated", "--scope", "read");
    const rotated = await locked.run(["tokens", "rotate", "rotated"], FIRST);
    expect(rotated.err).toContain("The old one is valid until");
    const next = rotated.out.trim();
    for (const token of [old, next]) {
      expect(await locked.run(["queues", "list"], having(token))).toMatchObject({ code: 0 });
    }
    const again = await locked.run(["tokens", "rotate", "rotated", "--grace", "0s"], FIRST);
    const last = again.out.trim();
    for (const [token, code] of [
      [old, 1],
      [next, 1],
      [last, 0],
    ] as const) {
      expect(await locked.run(["queues", "list"], having(token))).toMatchObject({ code });
    }
    await locked.run(["tokens", "revoke", "rotated", "--force"], FIRST);
    const revoked = await locked.run(["queues", "list"], having(last));
    expect(revoked.err).toContain("does not know this token, or it has expired");
  });

  it("has the REST API tell a token over its rate when to retry", async () => {
    const token = await create("slow", "--scope", "read", "--rate", "1");
    const ask = () =>
      fetch(`${url}/__sluice/client/v4/accounts/a/queues`, { headers: { authorization: `Bearer ${token}` } });
    const answers = await Promise.all(Array.from({ length: 20 }, ask));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.headers.get("retry-after")).toBe("1");
  });
});

it("sluice tokens create --aws prints an access key as variables", async () => {
  const created = await locked.run(["tokens", "create", "jobs", "--scope", "send", "--aws"], FIRST);
  expect(created.out).toMatch(/^AWS_ACCESS_KEY_ID=SLUICE[0-9A-F]{14}\nAWS_SECRET_ACCESS_KEY=[\w-]{43}\n$/);
  const [, id] = /^AWS_ACCESS_KEY_ID=(\w+)/.exec(created.out) ?? [];
  expect((await locked.run(["tokens", "list"], FIRST)).out).toMatch(new RegExp(`^jobs +${id} +send`, "m"));
  const rotated = await locked.run(["tokens", "rotate", "jobs"], FIRST);
  expect(rotated.out).toMatch(/^AWS_ACCESS_KEY_ID=/);
  expect(rotated.out).not.toBe(created.out);
});

describe("sluice audit", () => {
  it("shows who changed what to the scope admin", async () => {
    const ops = await locked.json<NewTokenView>(["tokens", "create", "ops", "--scope", "admin"], FIRST);
    await locked.run(["queues", "create", "audited"], having(ops.secret));
    await locked.run(["queues", "purge", "audited", "--force"], FIRST);
    const shown = await locked.run(["audit"], FIRST);
    const [titles, purged, created, token] = shown.out.split("\n");
    expect(titles).toMatch(/^when +who +what +of +by way of$/);
    expect(purged).toMatch(/Z +SLUICE_API_TOKENS +queue.purge +audited +admin$/);
    expect(created).toMatch(/Z +ops +queue.create +audited +cloudflare$/);
    expect(token).toMatch(/Z +SLUICE_API_TOKENS +token.create +ops +admin$/);
    const newest = await locked.json<AuditPage>(["audit", "--limit", "1"], FIRST);
    expect(newest.entries).toMatchObject([{ action: "queue.purge", target: "audited" }]);
    const next = await locked.json<AuditPage>(
      ["audit", "--limit", "1", "--cursor", newest.cursor ?? ""],
      FIRST,
    );
    expect(next.entries).toMatchObject([{ action: "queue.create", by: "ops" }]);
    const reader = await locked.json<NewTokenView>(["tokens", "create", "looks", "--scope", "read"], FIRST);
    expect(await locked.run(["audit"], having(reader.secret))).toMatchObject({ code: 1, out: "" });
  });
});
