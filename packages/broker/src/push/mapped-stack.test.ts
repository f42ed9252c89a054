import { afterEach, describe, expect, it, vi } from "vitest";
import { failedResult } from "./delivery-result.ts";
import { MAPPED_STACK_MS_MAX, withMappedStack } from "./mapped-stack.ts";

const URL = "http://127.0.0.1:1/path";
const failed = { ...failedResult("Error: no"), stack: "Error: no\n    at entry.js:1:2" };

describe("the stack trace of a reply", () => {
  it("is that of the user's sources", async () => {
    const post = vi.fn(async () => "Error: no\n    at src/a.ts:3:4");
    expect(await withMappedStack(failed, URL, post)).toEqual({
      ...failed,
      stack: "Error: no\n    at src/a.ts:3:4",
    });
    expect(post).toHaveBeenCalledExactlyOnceWith(URL, failed.stack);
  });

  it("stays as it is where nobody answers", async () => {
    expect(await withMappedStack(failed, URL, () => Promise.reject(new Error("refused")))).toBe(failed);
  });

  it.each([["acknowledged"], [failedResult("Error: no")], [null], [undefined], [{ stack: 7 }], [7]])(
    "is not asked for where there is none: %j",
    async (reply) => {
      const post = vi.fn();
      expect(await withMappedStack(reply as never, URL, post)).toBe(reply);
      expect(post).not.toHaveBeenCalled();
    },
  );
});

describe("the request for it", () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("ends after MAPPED_STACK_MS_MAX", async () => {
    const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(AbortSignal.abort());
    vi.stubGlobal("fetch", (_: string, { signal }: RequestInit) => Promise.reject(signal?.reason));
    expect(await withMappedStack(failed, URL)).toBe(failed);
    expect(timeout).toHaveBeenCalledExactlyOnceWith(MAPPED_STACK_MS_MAX);
  });

  it("counts for nothing if it is refused", async () => {
    vi.stubGlobal("fetch", async () => new Response("no such path", { status: 404 }));
    expect(await withMappedStack(failed, URL)).toBe(failed);
  });
});
