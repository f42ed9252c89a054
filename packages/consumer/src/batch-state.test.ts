import { describe, expect, it } from "vitest";
import { BatchState } from "./batch-state.ts";
import { DeliveryLines } from "./logs/delivery-lines.ts";

const NOTHING = { ackAll: false, retryBatch: { retry: false }, explicitAcks: [], retryMessages: [] };

/** Makes calls in that order, and returns the flags and the warnings that result. */
function after(...calls: ((state: BatchState) => void)[]) {
  const warnings: string[] = [];
  const state = new BatchState((warning) => warnings.push(warning));
  for (const call of calls) call(state);
  return { flags: state.calls(), warnings };
}

const ack = (state: BatchState) => state.ack("m1");
const retry = (delaySeconds?: number) => (state: BatchState) => state.retry("m1", delaySeconds);
const ackAll = (state: BatchState) => state.ackAll();
const retryAll = (delaySeconds?: number) => (state: BatchState) => state.retryAll(delaySeconds);

const acked = { ...NOTHING, explicitAcks: ["m1"] };
const ackedAll = { ...NOTHING, ackAll: true };
const retried = { ...NOTHING, retryMessages: [{ msgId: "m1" }] };
const retriedAll = { ...NOTHING, retryBatch: { retry: true } };

describe("msg.ack() (spec cloudflare-queues 2.2)", () => {
  it("is recorded, once", () => {
    expect(after(ack, ack)).toEqual({ flags: acked, warnings: [] });
  });

  it("is a silent no-op after ackAll()", () => {
    expect(after(ackAll, ack)).toEqual({ flags: ackedAll, warnings: [] });
  });

  it("is ignored with a warning after retryAll()", () => {
    expect(after(retryAll(), ack)).toEqual({
      flags: retriedAll,
      warnings: [
        "Received a call to ack() on message m1 after retryAll() was already called. Calling ack() on a " +
          "message after calling retryAll() has no effect.",
      ],
    });
  });

  it("is ignored with a warning after the message's retry()", () => {
    expect(after(retry(), ack)).toEqual({
      flags: retried,
      warnings: [
        "Received a call to ack() on message m1 after retry() was already called. Calling ack() on a " +
          "message after calling retry() has no effect.",
      ],
    });
  });
});

describe("msg.retry()", () => {
  it("replaces an earlier one: a new delay, or none if it names none", () => {
    expect(after(retry(5), retry(0)).flags.retryMessages).toEqual([{ msgId: "m1", delaySeconds: 0 }]);
    expect(after(retry(5), retry())).toEqual({ flags: retried, warnings: [] });
  });

  it("is recorded with its own delay after retryAll()", () => {
    expect(after(retryAll(4), retry(2))).toEqual({
      flags: {
        ...NOTHING,
        retryBatch: { retry: true, delaySeconds: 4 },
        retryMessages: [{ msgId: "m1", delaySeconds: 2 }],
      },
      warnings: [],
    });
  });

  it("is ignored with a warning after ackAll()", () => {
    expect(after(ackAll, retry(2))).toEqual({
      flags: ackedAll,
      warnings: [
        "Received a call to retry() on message m1 after ackAll() was already called. Calling retry() on " +
          "a message after calling ackAll() has no effect.",
      ],
    });
  });

  it("is ignored with a warning after the message's ack()", () => {
    expect(after(ack, retry(2))).toEqual({
      flags: acked,
      warnings: [
        "Received a call to retry() on message m1 after ack() was already called. Calling retry() on a " +
          "message after calling ack() has no effect.",
      ],
    });
  });
});

describe("batch.ackAll()", () => {
  it("keeps what was said about single messages", () => {
    expect(after(ack, ackAll).flags).toEqual({ ...acked, ackAll: true });
    expect(after(retry(), ackAll).flags).toEqual({ ...retried, ackAll: true });
  });

  it("is ignored with a warning after retryAll()", () => {
    expect(after(retryAll(), ackAll)).toEqual({
      flags: retriedAll,
      warnings: [
        "Received a call to ackAll() after retryAll() was already called. Calling ackAll() after " +
          "calling retryAll() has no effect.",
      ],
    });
  });
});

describe("batch.retryAll()", () => {
  it("keeps what was said about single messages", () => {
    expect(after(ack, retryAll()).flags).toEqual({ ...acked, retryBatch: { retry: true } });
    expect(after(retry(), retryAll()).flags).toEqual({ ...retried, retryBatch: { retry: true } });
  });

  it("keeps an earlier delay unless it names a new one", () => {
    expect(after(retryAll(4), retryAll()).flags.retryBatch).toEqual({ retry: true, delaySeconds: 4 });
    expect(after(retryAll(4), retryAll(0)).flags.retryBatch).toEqual({ retry: true, delaySeconds: 0 });
  });

  it("is ignored with a warning after ackAll()", () => {
    expect(after(ackAll, retryAll(4))).toEqual({
      flags: ackedAll,
      warnings: [
        "Received a call to retryAll() after ackAll() was already called. Calling retryAll() after " +
          "calling ackAll() has no effect.",
      ],
    });
  });
});

it("flags are those of the moment: later calls do not change them", () => {
  const state = new BatchState(() => {});
  const flags = state.calls();
  ack(state);
  retryAll()(state);
  expect(flags).toEqual(NOTHING);
});

it("a retry has the error that was printed right before it, and keeps it when it is called again", () => {
  const lines = new DeliveryLines();
  const state = new BatchState(() => {}, lines);
  lines.add("error", ["Error: no stock"]);
  state.retry("a", 5);
  state.retry("b", undefined);
  state.retry("a", 9);
  expect(state.calls()).toMatchObject({
    retryMessages: [{ msgId: "a", printed: "Error: no stock", delaySeconds: 9 }, { msgId: "b" }],
    logs: { lines: [{ level: "error", text: "Error: no stock" }] },
  });
  expect(state.calls().retryMessages[1]).not.toHaveProperty("printed");
});
