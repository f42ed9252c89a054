import { cpuMsOf } from "@sluice/protocol/test/cpu-time";
import { afterEach, describe, expect, it, vi } from "vitest";
import { failedResult } from "./delivery-result.ts";
import { MAPPED_STACK_MS_MAX, withMappedStacks } from "./mapped-stacks.ts";

const URL = "http://127.0.0.1:1/path";
const failed = { ...failedResult("Error: no"), stack: "Error: no\n    at entry.js:1:2" };

describe("the stack trace of a reply", () => {
  it("is that of the user's sources", async () => {
    const post = vi.fn(async () => "Error: no\n    at src/a.ts:3:4");
    expect(await withMappedStacks(failed, URL, post)).toEqual({
      ...failed,
      stack: "Error: no\n    at src/a.ts:3:4",
    });
    expect(post).toHaveBeenCalledExactlyOnceWith(URL, failed.stack);
  });

  it("stays as it is where nobody answers", async () => {
    expect(await withMappedStacks(failed, URL, () => Promise.reject(new Error("refused")))).toBe(failed);
  });

  it.each([
    ["acknowledged"],
    [failedResult("Error: no")],
    [null],
    [undefined],
    [{ stack: 7 }],
    [7],
    [{ stack: "no frames" }],
  ])("is not asked for where there is none: %j", async (reply) => {
    const post = vi.fn();
    expect(await withMappedStacks(reply as never, URL, post)).toEqual(reply);
    expect(post).not.toHaveBeenCalled();
  });
});

it.each(["\n", " ", "\n ", "\r\n"])("a long text of %j is searched for frames in one pass", async (part) => {
  const post = vi.fn();
  const result = { ...failedResult("no"), stack: part.repeat(128_000) };
  const tookMs = await cpuMsOf(() => withMappedStacks(result, URL, post));
  // Milliseconds are enough; reading on from each part to the end takes many seconds.
  expect(tookMs).toBeLessThan(1_000);
  expect(post).not.toHaveBeenCalled();
});

describe("what a handler printed", () => {
  const printed = { afterMs: 2, text: "Error: no\n    at entry.js:1:2", level: "error" } as const;
  const reply = {
    ...failedResult("no"),
    logs: { lines: [{ afterMs: 1, text: "hello", level: "log" } as const, printed], mixed: 1 },
  };

  it("has the places of the user's sources, and is asked for only where it has any", async () => {
    const post = vi.fn(async () => "Error: no\n    at a.ts:3:4");
    expect(await withMappedStacks(reply, URL, post)).toEqual({
      ...reply,
      logs: { lines: [reply.logs.lines[0], { ...printed, text: "Error: no\n    at a.ts:3:4" }], mixed: 1 },
    });
    expect(post).toHaveBeenCalledExactlyOnceWith(URL, printed.text);
  });

  it("has no frames of ours once their places are known, and keeps that of the user's code", async () => {
    const own = "\n    at #send (sluice:packages/producer/src/queue-producer.ts:163:1)".repeat(9);
    const post = async () => `Error: no${own}\n    at a.ts:3:4${own}`;
    const { logs } = (await withMappedStacks(reply, URL, post)) as typeof reply;
    expect(logs.lines[1]?.text).toBe("Error: no\n    at a.ts:3:4");
  });

  it.each([-1, 0, 1, 50])("is never longer than it was: %i units", async (more) => {
    const room = printed.text.length - "Error: no".length;
    const post = async () => `Error: no\n    at ${"a".repeat(room + more - 12)}:1:2`;
    const { logs } = (await withMappedStacks(reply, URL, post)) as typeof reply;
    expect(logs.lines[1]?.text.length).toBeLessThanOrEqual(printed.text.length);
    expect(logs.lines[1]?.text).toContain("Error: no");
  });

  it("stays as it is where it is no list", async () => {
    const broken = { ...failedResult("no"), logs: { lines: 7 } };
    expect(await withMappedStacks(broken as never, URL, vi.fn())).toBe(broken);
  });
});

describe("the request for it", () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("ends after MAPPED_STACK_MS_MAX", async () => {
    const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(AbortSignal.abort());
    vi.stubGlobal("fetch", (_: string, { signal }: RequestInit) => Promise.reject(signal?.reason));
    expect(await withMappedStacks(failed, URL)).toBe(failed);
    expect(timeout).toHaveBeenCalledExactlyOnceWith(MAPPED_STACK_MS_MAX);
  });

  it("counts for nothing if it is refused", async () => {
    vi.stubGlobal("fetch", async () => new Response("no such path", { status: 404 }));
    expect(await withMappedStacks(failed, URL)).toBe(failed);
  });
});
