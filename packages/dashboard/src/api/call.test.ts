import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { hasToken, ifAllowed, keepToken, orRefusal, Refused, request, TokenNeeded } from "./call.ts";

const fetched = vi.fn(async (_path: string, _init: RequestInit) => Response.json({}));

beforeEach(() => {
  fetched.mockClear();
  const kept = new Map<string, string>();
  vi.stubGlobal("fetch", fetched);
  vi.stubGlobal("dispatchEvent", () => true);
  vi.stubGlobal("sessionStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

it.each(["токен", "sl_“quoted”", "a\nb"])("a token that no header can carry is not kept: %j", (token) => {
  expect(keepToken(token)).toBe(false);
  expect(hasToken()).toBe(false);
});

it.each(["sl_token", "schlüssel", "with a blank"])(
  "a token that a header can carry is sent: %j",
  async (token) => {
    expect(keepToken(token)).toBe(true);
    await request("/queues");
    expect(new Headers(fetched.mock.calls[0]?.[1].headers).get("authorization")).toBe(`Bearer ${token}`);
  },
);

it("a refusal is an answer to who has something to show without one, other errors stay errors", async () => {
  const refused = new Refused("no", "shard_unavailable");
  expect(await orRefusal(Promise.reject(refused))).toBe(refused);
  await expect(orRefusal(Promise.reject(new TokenNeeded("no")))).rejects.toThrow(TokenNeeded);
  expect(await ifAllowed(Promise.resolve(1))).toBe(1);
  expect(await ifAllowed(Promise.reject(new Refused("no", "forbidden")))).toBeNull();
  await expect(ifAllowed(Promise.reject(refused))).rejects.toBe(refused);
});
