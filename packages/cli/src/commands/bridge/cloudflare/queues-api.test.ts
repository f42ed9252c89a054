import { afterEach, describe, expect, it, vi } from "vitest";
import { PassingFailure } from "../../patience.ts";
import { CloudflareQueues, RefusedRequest } from "./queues-api.ts";

const api = new CloudflareQueues({
  credentials: { headers: { authorization: "Bearer token" }, source: "CLOUDFLARE_API_TOKEN" },
  account: "0a",
  apiUrl: "https://api.example",
});

afterEach(() => vi.unstubAllGlobals());

/** Has Cloudflare answer each request. */
function answering(status: number, body: unknown, headers: Record<string, string> = {}) {
  const fetched = vi.fn(
    async () => new Response(typeof body === "string" ? body : JSON.stringify(body), { status, headers }),
  );
  vi.stubGlobal("fetch", fetched);
  return fetched;
}

const refusal = (code: number, message: string) => ({
  success: false,
  errors: [{ code, message }],
  result: null,
});
const failureOf = () =>
  api.get("q1").then(
    () => null,
    (error: unknown) => error as Error,
  );

describe("Cloudflare's API", () => {
  it.each([
    [
      403,
      refusal(10_000, "Authentication error"),
      'The credentials are those of CLOUDFLARE_API_TOKEN. A token needs "Queues: Edit" for the account 0a.',
    ],
    [401, {}, 'A token needs "Queues: Edit" for the account 0a.'],
    [404, refusal(7_003, "Could not route"), "Is there an account 0a? CLOUDFLARE_ACCOUNT_ID names it."],
    [
      400,
      refusal(100_128, "The specified queue settings are invalid"),
      "Cloudflare refuses GET /queues/q1: The specified queue settings are invalid [code: 100128].",
    ],
  ])(
    "that refuses with %i %j has a sentence for it, and is not asked again",
    async (status, body, sentence) => {
      answering(status, body);
      const failure = await failureOf();
      expect(failure).not.toBeInstanceOf(PassingFailure);
      expect(failure?.message).toContain(sentence);
      expect(failure?.message).not.toContain("\n");
    },
  );

  it.each([
    [500, refusal(10_013, "An unknown error")],
    [429, refusal(10_250, "Queue is overloaded")],
    [200, "<html>"],
  ])("that answers %i %j may be asked again", async (status, body) => {
    answering(status, body);
    expect(await failureOf()).toBeInstanceOf(PassingFailure);
  });

  it("says how long to wait", async () => {
    answering(429, refusal(971, "slow down"), { "retry-after": "7" });
    expect(await failureOf()).toMatchObject({ retryAfterMs: 7_000 });
  });

  it("may be asked again where a connection fails", async () => {
    vi.stubGlobal("fetch", async () => {
      throw new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") });
    });
    expect(await failureOf()).toMatchObject({
      name: "CliError",
      message: "Cloudflare does not answer GET /queues/q1: connect ECONNREFUSED.",
    });
  });

  it("gets bodies as they are", async () => {
    const fetched = answering(200, { success: true, result: {} });
    await api.sendBatch("q1", '[{"content_type":"json","body":{"n":12345678901234567890}}]');
    expect(fetched.mock.calls).toMatchObject([
      [
        "https://api.example/accounts/0a/queues/q1/messages/batch",
        { body: '{"messages":[{"content_type":"json","body":{"n":12345678901234567890}}]}' },
      ],
    ]);
  });

  it("says which acknowledgements had no effect", async () => {
    answering(200, { success: true, result: { ackCount: 1, retryCount: 0, warnings: { b: "gone" } } });
    expect(await api.ack("q1", ["a", "b"])).toEqual(["b"]);
    answering(200, { success: true, result: { ackCount: 2 } });
    expect(await api.ack("q1", ["a", "b"])).toEqual([]);
  });

  it("is asked to give messages back after some seconds", async () => {
    const fetched = answering(200, { success: true, result: { retryCount: 1 } });
    await api.postpone("q1", ["a"], 60);
    expect(fetched.mock.calls).toMatchObject([
      [
        "https://api.example/accounts/0a/queues/q1/messages/ack",
        { body: '{"acks":[],"retries":[{"lease_id":"a","delay_seconds":60}]}' },
      ],
    ]);
  });

  it("may tell no backlog", async () => {
    answering(404, refusal(11_000, "no such path"));
    expect(await api.backlog("q1")).toBeNull();
    answering(200, { success: true, result: { backlog_count: 3 } });
    expect(await api.backlog("q1")).toBe(3);
  });

  it("refuses what is in a request with its status", async () => {
    answering(413, refusal(10_204, "too large"));
    expect(await failureOf()).toBeInstanceOf(RefusedRequest);
  });
});

describe("a login whose token has ended", () => {
  /** Cloudflare, which knows one token alone, and a login that gives out tokens. */
  function expiring(known: string, tokens: string[]) {
    const fetched = vi.fn(async (_: string, { headers }: { headers: Record<string, string> }) => {
      const isKnown = headers.authorization === `Bearer ${known}`;
      return isKnown
        ? Response.json({ success: true, result: {} })
        : Response.json(refusal(10_000, "Authentication error"), { status: 403 });
    });
    vi.stubGlobal("fetch", fetched);
    const credentialsOf = (token: string) => ({
      headers: { authorization: `Bearer ${token}` },
      source: '"npx wrangler login"',
    });
    const renew = vi.fn(async () => credentialsOf(tokens.shift() ?? ""));
    const queues = new CloudflareQueues({
      credentials: credentialsOf("old"),
      renew,
      account: "0a",
      apiUrl: "https://api.example",
    });
    return { queues, renew, fetched };
  }

  it("is read again, once for all calls that were refused together", async () => {
    const { queues, renew, fetched } = expiring("new", ["new", "unused"]);
    await Promise.all([queues.get("q1"), queues.get("q2"), queues.get("q3")]);
    await queues.get("q1");
    expect([renew.mock.calls.length, fetched.mock.calls.length]).toEqual([1, 7]);
  });

  it("is read again each time that its token ends", async () => {
    const { queues, renew } = expiring("new", ["new", "newer"]);
    await queues.get("q1");
    const later = expiring("newer", []);
    await queues.get("q1");
    expect([renew.mock.calls.length, later.fetched.mock.calls.length]).toEqual([2, 2]);
  });

  it("is read once for a call that is refused with the new token too", async () => {
    const { queues, renew } = expiring("none", ["new", "unused"]);
    await expect(queues.get("q1")).rejects.toThrow('The credentials are those of "npx wrangler login".');
    expect(renew).toHaveBeenCalledOnce();
  });
});
