import type { NewToken } from "@sluice/protocol";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { OPEN } from "../../test/directory.ts";
import { memoryTokens } from "../../test/in-memory.ts";
import type { Access } from "../http/access.ts";
import { Authority } from "./authority.ts";
import { sha256Of } from "./digest.ts";
import { TOKENS_KEPT_MS } from "./kept-tokens.ts";

const TOKENS: Access = { kind: "tokens", tokens: ["first", "second"] };
const CLOSED: Access = { kind: "closed", reason: "Set SLUICE_API_TOKENS." };

let nowMs: number;
let tokens: ReturnType<typeof memoryTokens>;
let authority: Authority;

beforeEach(() => {
  nowMs = 1_700_000_000_000;
  tokens = memoryTokens(() => nowMs);
  authority = new Authority(TOKENS, tokens, () => nowMs);
});

async function bearer(secret: string) {
  return { kind: "bearer" as const, sha256: await sha256Of(secret) };
}

async function create(name: string, changes: Partial<NewToken> = {}): Promise<void> {
  await tokens.createToken({
    name,
    secret: await bearer(`${name}-secret`),
    scopes: ["send"],
    queues: [],
    expiresAtMs: null,
    ratePerSecond: null,
    ...changes,
  });
}

/** Has the directory's answers wait, each with the tokens that there were when it was asked. */
function holdLists() {
  const answers: (() => void)[] = [];
  const { listTokens } = tokens;
  tokens.listTokens = async () => {
    const list = await listTokens();
    await new Promise<void>((resolve) => answers.push(resolve));
    return list;
  };
  return {
    asked: (count: number) => vi.waitFor(() => expect(answers).toHaveLength(count)),
    answer: (index: number) => answers[index]?.(),
  };
}

const kindOf = async (token: string | null) => (await authority.admit(token)).kind;

describe("who is let in", () => {
  it("who is let in with a token of the configuration may do everything, and the directory is not asked", async () => {
    for (const token of ["first", "second"]) {
      expect(await authority.admit(token)).toEqual({
        kind: "in",
        rights: { by: "SLUICE_API_TOKENS", scopes: ["admin"], queues: [] },
      });
    }
    expect(tokens.calls).toBe(0);
  });

  it("who is let in as the process that runs the broker may do everything, by its own name", async () => {
    const access: Access = { kind: "tokens", tokens: [], processToken: "own" };
    authority = new Authority(access, tokens, () => nowMs);
    expect(await authority.admit("own")).toEqual({
      kind: "in",
      rights: { by: "process", scopes: ["admin"], queues: [] },
    });
    expect(await kindOf("")).toBe("unknown");
    expect(await kindOf(null)).toBe("noToken");
  });

  it("who is let in with a token that is kept may do what it says", async () => {
    await create("shop", { scopes: ["send", "read"], queues: ["orders", "mail*"] });
    expect(await authority.admit("shop-secret")).toEqual({
      kind: "in",
      rights: { by: "shop", scopes: ["send", "read"], queues: ["orders", "mail*"] },
    });
  });

  it.each(["", "shop", "shop-secre", "shop-secrett", "Shop-secret"])("is not who says %j", async (token) => {
    await create("shop");
    expect(await kindOf(token)).toBe("unknown");
  });

  it("is not who knows the digest that is kept", async () => {
    await create("shop");
    expect(await kindOf(await sha256Of("shop-secret"))).toBe("unknown");
  });

  it("needs a token unless the broker is open", async () => {
    expect(await kindOf(null)).toBe("noToken");
    authority = new Authority(OPEN, tokens, () => nowMs);
    expect(await authority.admit(null)).toMatchObject({ kind: "in", rights: { by: "local" } });
  });

  it("who is let in to a broker without tokens of its configuration has one that is kept", async () => {
    await create("shop");
    authority = new Authority(CLOSED, tokens, () => nowMs);
    expect(await kindOf("shop-secret")).toBe("in");
    expect(await authority.admit("other")).toEqual(CLOSED);
    expect(await authority.admit(null)).toEqual(CLOSED);
  });
});

describe("a token", () => {
  it("ends when it expires, to the millisecond", async () => {
    await create("shop", { expiresAtMs: nowMs + 1_000 });
    nowMs += 999;
    expect(await kindOf("shop-secret")).toBe("in");
    nowMs += 1;
    expect(await authority.admit("shop-secret")).toEqual({
      kind: "unknown",
      reason: 'The token "shop" has expired.',
    });
  });

  it("a token that was rotated is known by both secrets for the grace period, then by the new one", async () => {
    await create("shop");
    await tokens.rotateToken("shop", await bearer("new"), 60_000);
    nowMs += 59_999;
    expect([await kindOf("shop-secret"), await kindOf("new")]).toEqual(["in", "in"]);
    nowMs += 1;
    expect([await kindOf("shop-secret"), await kindOf("new")]).toEqual(["unknown", "in"]);
  });

  it("a token that is revoked elsewhere works for as long as the list is kept, and the directory has its rest", async () => {
    await create("shop");
    expect(await kindOf("shop-secret")).toBe("in");
    await tokens.deleteToken("shop");
    nowMs += TOKENS_KEPT_MS - 1;
    expect(await kindOf("shop-secret")).toBe("in");
    expect(tokens.calls).toBe(1);
    nowMs += 1;
    expect(await kindOf("shop-secret")).toBe("unknown");
    expect(tokens.calls).toBe(2);
  });

  it("a token that is revoked elsewhere works no longer where the clock was set back", async () => {
    await create("shop");
    expect(await kindOf("shop-secret")).toBe("in");
    await tokens.deleteToken("shop");
    nowMs -= 3_600_000;
    expect(await kindOf("shop-secret")).toBe("unknown");
  });

  it("a token that is revoked here ends at once", async () => {
    await create("shop");
    expect(await kindOf("shop-secret")).toBe("in");
    await tokens.deleteToken("shop");
    authority.forgetTokens();
    expect(await kindOf("shop-secret")).toBe("unknown");
  });

  it("a token that is revoked here ends at once though a request had asked for the list before", async () => {
    await create("shop");
    const held = holdLists();
    const before = kindOf("shop-secret");
    await held.asked(1);
    await tokens.deleteToken("shop");
    authority.forgetTokens();
    held.answer(0);
    expect(await before).toBe("in");
    const after = kindOf("shop-secret");
    await held.asked(2);
    held.answer(1);
    expect(await after).toBe("unknown");
  });

  it("a token that is revoked elsewhere is not known again by an older list that comes late", async () => {
    await create("shop");
    const held = holdLists();
    const before = kindOf("shop-secret");
    await held.asked(1);
    await tokens.deleteToken("shop");
    const after = kindOf("shop-secret");
    await held.asked(2);
    held.answer(1);
    expect(await after).toBe("unknown");
    held.answer(0);
    expect(await before).toBe("in");
    expect(await kindOf("shop-secret")).toBe("unknown");
  });

  it("makes no more requests a second than it may, and others are not counted with it", async () => {
    await create("shop", { ratePerSecond: 2 });
    await create("other", { ratePerSecond: 2 });
    expect([await kindOf("shop-secret"), await kindOf("shop-secret")]).toEqual(["in", "in"]);
    expect(await authority.admit("shop-secret")).toEqual({ kind: "throttled", afterSeconds: 1 });
    expect(await kindOf("other-secret")).toBe("in");
    nowMs += 499;
    expect(await kindOf("shop-secret")).toBe("throttled");
    nowMs += 1;
    expect([await kindOf("shop-secret"), await kindOf("shop-secret")]).toEqual(["in", "throttled"]);
    nowMs += 3_600_000;
    const kinds = [await kindOf("shop-secret"), await kindOf("shop-secret"), await kindOf("shop-secret")];
    expect(kinds).toEqual(["in", "in", "throttled"]);
  });
});

it("access keys end with their token, and those from before a rotation with the grace period", async () => {
  const key = (id: string) => ({ kind: "aws" as const, accessKeyId: id, secretAccessKey: `${id}-secret` });
  await create("jobs", { secret: key("OLD"), expiresAtMs: nowMs + 5_000 });
  await create("shop");
  await tokens.rotateToken("jobs", key("NEW"), 1_000);
  const keys = [...(await authority.accessKeys())].map(([id, { secretAccessKey, untilMs }]) => [
    ...[id, secretAccessKey, untilMs - nowMs],
  ]);
  expect(keys.sort()).toEqual([
    ["NEW", "NEW-secret", 5_000],
    ["OLD", "OLD-secret", 1_000],
  ]);
});
