import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { deliveryOf, idOf } from "../test/deliveries.ts";
import type { WaitUntilContext } from "./background-work.ts";
import { BatchState } from "./batch-state.ts";
import { DeliveryLines } from "./logs/delivery-lines.ts";
import { type HandlerCall, runDelivery } from "./run-delivery.ts";

const OK = {
  outcome: "ok",
  ackAll: false,
  retryBatch: { retry: false },
  explicitAcks: [],
  retryMessages: [],
};

const printError = vi.spyOn(console, "error");
const printWarning = vi.spyOn(console, "warn");
beforeEach(() => {
  printError.mockReset().mockImplementation(() => {});
  printWarning.mockReset().mockImplementation(() => {});
});
afterEach(() => {
  vi.clearAllMocks();
});

/** A context as the runtime gives it, and what it was told to keep alive. */
function createContext() {
  const kept: Promise<unknown>[] = [];
  const ctx: WaitUntilContext = {
    waitUntil(promise) {
      kept.push(promise);
    },
  };
  return { ctx, kept };
}

function run(handler: HandlerCall | undefined, waitForWaitUntil = true, { ctx } = createContext()) {
  const state = new BatchState((message) => console.warn(message));
  return runDelivery(deliveryOf(["a", "b"]), ctx, () => handler, { waitForWaitUntil }, state);
}

describe("the outcome", () => {
  it.each<[string, HandlerCall]>([
    ["returns nothing", () => undefined],
    ["returns something", () => 5],
    ["resolves", async () => {}],
  ])("is ok when the handler %s", async (_name, handler) => {
    expect(await run(handler)).toEqual(OK);
    expect(printError).not.toHaveBeenCalled();
  });

  it.each<[string, unknown, string]>([
    ["an error", new TypeError("first\nsecond"), "TypeError: first"],
    ["a string", "text", "text"],
    ["null", null, "null"],
    ["an object without text", Object.create(null), "a thrown object"],
  ])(
    "is exception when the handler throws or rejects with %s, which is printed",
    async (_name, thrown, error) => {
      const stack = thrown instanceof Error ? { stack: expect.stringContaining("\n    at ") } : {};
      const result = { ...OK, outcome: "exception", error, ...stack };
      const throwing = () => {
        throw thrown;
      };
      expect(await run(throwing)).toEqual(result);
      expect(await run(() => Promise.reject(thrown))).toEqual(result);
      expect(printError.mock.calls).toEqual([[thrown], [thrown]]);
    },
  );

  it("is the handler's though its program has replaced the console by one that throws", async () => {
    printError.mockImplementation(() => {
      throw new Error("the console is broken");
    });
    const lines = new DeliveryLines();
    const state = new BatchState(() => {});
    const { ctx } = createContext();
    const handler = () => () => Promise.reject(new Error("no lamp"));
    const result = runDelivery(deliveryOf(["a"]), ctx, handler, { waitForWaitUntil: true }, state, lines);
    await expect(result).resolves.toMatchObject({ outcome: "exception", error: "Error: no lamp" });
    expect(lines.isMuted).toBe(false);
  });

  it("says the stack of what was thrown, with those of its causes, 8,000 characters at most", async () => {
    const cause = new Error("the cause");
    const { stack } = await run(() => Promise.reject(new Error("above", { cause })));
    expect(stack).toMatch(/^Error: above\n {4}at [\s\S]*\nCaused by: Error: the cause\n {4}at /);
    const long = await run(() => Promise.reject(new Error("x".repeat(9_000))));
    expect(long.stack).toHaveLength(8_000);
  });

  it("has no stack where asking for it throws", async () => {
    const thrown = Object.defineProperty(new Error("own"), "stack", {
      get: () => {
        throw new Error("no stack");
      },
    });
    expect(await run(() => Promise.reject(thrown))).toEqual({
      ...OK,
      outcome: "exception",
      error: "Error: own",
    });
  });

  it("is exception when there is no handler", async () => {
    const text =
      "Received a QueueEvent but we lack a handler for QueueEvents. Did you remember to export a queue() function?";
    expect(await run(undefined)).toEqual({ ...OK, outcome: "exception", error: text });
    expect(printWarning).toHaveBeenCalledExactlyOnceWith(text);
  });

  it("keeps what was said before the throw", async () => {
    const result = await run((batch) => {
      batch.messages[0]?.ack();
      batch.messages[1]?.retry({ delaySeconds: 3 });
      throw new Error("late");
    });
    expect(result).toMatchObject({
      outcome: "exception",
      explicitAcks: [idOf(1)],
      retryMessages: [{ msgId: idOf(2), delaySeconds: 3 }],
    });
  });
});

it("warnings are printed with console.warn", async () => {
  await run((batch) => {
    batch.ackAll();
    batch.retryAll();
  });
  expect(printWarning).toHaveBeenCalledExactlyOnceWith(
    "Received a call to retryAll() after ackAll() was already called. Calling retryAll() after calling " +
      "ackAll() has no effect.",
  );
});

describe("waitUntil", () => {
  it("delays the report, and what is called meanwhile counts, in nested work too", async () => {
    const context = createContext();
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let reported = false;
    const report = run(
      (batch) => {
        context.ctx.waitUntil(
          first.promise.then(() => {
            context.ctx.waitUntil(second.promise.then(() => batch.messages[1]?.retry()));
            batch.messages[0]?.ack();
          }),
        );
      },
      true,
      context,
    ).finally(() => {
      reported = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    first.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    expect(reported).toBe(false);
    second.resolve();
    expect(await report).toEqual({ ...OK, explicitAcks: [idOf(1)], retryMessages: [{ msgId: idOf(2) }] });
  });

  it("fails the batch when one rejects, after all of them are settled", async () => {
    const context = createContext();
    const slow = Promise.withResolvers<void>();
    const report = run(
      (batch) => {
        context.ctx.waitUntil(Promise.reject(new Error("first")));
        context.ctx.waitUntil(slow.promise.then(() => batch.messages[0]?.ack()));
      },
      true,
      context,
    );
    await new Promise((resolve) => setImmediate(resolve));
    slow.resolve();
    expect(await report).toEqual({
      ...OK,
      outcome: "exception",
      explicitAcks: [idOf(1)],
      error: "Error: first",
      stack: expect.stringContaining("Error: first\n"),
    });
  });

  it("waitUntil neither delays nor fails the report without waitForWaitUntil, but is printed and kept alive", async () => {
    const context = createContext();
    const slow = Promise.withResolvers<void>();
    const failure = new Error("background");
    const report = run(
      (batch) => {
        context.ctx.waitUntil(
          slow.promise.then(() => {
            batch.messages[0]?.retry();
            throw failure;
          }),
        );
      },
      false,
      context,
    );
    expect(await report).toEqual(OK);
    slow.resolve();
    await Promise.all(context.kept);
    expect(printError).toHaveBeenCalledExactlyOnceWith(failure);
  });

  it("takes what is no promise, as the runtime does", async () => {
    const context = createContext();
    const value = 5 as unknown as Promise<unknown>;
    expect(await run(() => context.ctx.waitUntil(value), true, context)).toEqual(OK);
  });

  it("is the context's own method: without its context it is refused", async () => {
    const context = createContext();
    const handler = () => {
      const { waitUntil } = context.ctx;
      waitUntil(Promise.resolve());
    };
    expect(await run(handler, true, context)).toMatchObject({
      outcome: "exception",
      error: expect.stringMatching(/^TypeError: Illegal invocation: /),
    });
  });
});

it("what a handler started and did not await counts if it needs no I/O", async () => {
  const result = await run((batch) => {
    (async () => {
      for (let i = 0; i < 50; i++) await null;
      batch.messages[0]?.retry();
    })();
  });
  expect(result.retryMessages).toEqual([{ msgId: idOf(1) }]);
});
