import { describe, expect, it } from "vitest";
import { DELAY_SECONDS_MAX } from "./limits.ts";
import type { DeliveryResult } from "./rpc.ts";
import { acknowledgesAll, deliveryReply, type Settlement, settle } from "./settlement.ts";

const RETRY_DELAY = 11;
const ack: Settlement = { kind: "ack" };
const retry = (delaySeconds: number): Settlement => ({ kind: "retry", delaySeconds });
const DEFAULT = retry(RETRY_DELAY);

function result(part: Partial<DeliveryResult> = {}): DeliveryResult {
  return {
    outcome: "ok",
    ackAll: false,
    retryBatch: { retry: false },
    explicitAcks: [],
    retryMessages: [],
    ...part,
  };
}

const EA = { explicitAcks: ["m1"] };
const RM = (delaySeconds?: number) => ({
  retryMessages: [delaySeconds === undefined ? { msgId: "m1" } : { msgId: "m1", delaySeconds }],
});
const RB = (delaySeconds?: number) => ({
  retryBatch: delaySeconds === undefined ? { retry: true } : { retry: true, delaySeconds },
});
const THROWN = { outcome: "exception" };

/** Spec 2.3: what the runtime reports for each program, and what becomes of m1 and m2. */
const ROWS: readonly [program: string, DeliveryResult, m1: Settlement, m2: Settlement][] = [
  ["(nothing)", result(), ack, ack],
  ["m1.ack", result(EA), ack, ack],
  ["m1.ack; m1.ack", result(EA), ack, ack],
  ["m1.retry", result(RM()), DEFAULT, ack],
  ["m1.retry(5)", result(RM(5)), retry(5), ack],
  ["m1.retry(5); m1.retry()", result(RM()), DEFAULT, ack],
  ["m1.retry(5); m1.retry(9)", result(RM(9)), retry(9), ack],
  ["m1.retry(); m1.retry(9)", result(RM(9)), retry(9), ack],
  ["m1.retry(0)", result(RM(0)), retry(0), ack],
  ["m1.ack; m1.retry", result(EA), ack, ack],
  ["m1.retry; m1.ack", result(RM()), DEFAULT, ack],
  ["ackAll", result({ ackAll: true }), ack, ack],
  ["retryAll", result(RB()), DEFAULT, DEFAULT],
  ["retryAll(4)", result(RB(4)), retry(4), retry(4)],
  ["retryAll(4); retryAll()", result(RB(4)), retry(4), retry(4)],
  ["retryAll(); retryAll(8)", result(RB(8)), retry(8), retry(8)],
  ["ackAll; retryAll", result({ ackAll: true }), ack, ack],
  ["retryAll; ackAll", result(RB()), DEFAULT, DEFAULT],
  ["ackAll; m1.ack", result({ ackAll: true }), ack, ack],
  ["ackAll; m1.retry", result({ ackAll: true }), ack, ack],
  ["retryAll; m1.ack", result(RB()), DEFAULT, DEFAULT],
  ["retryAll(4); m1.retry(2)", result({ ...RB(4), ...RM(2) }), retry(2), retry(4)],
  ["m1.ack; ackAll", result({ ackAll: true, ...EA }), ack, ack],
  ["m1.ack; retryAll", result({ ...RB(), ...EA }), ack, DEFAULT],
  ["m1.retry(3); ackAll", result({ ackAll: true, ...RM(3) }), retry(3), ack],
  ["m1.retry(3); retryAll(7)", result({ ...RB(7), ...RM(3) }), retry(3), retry(7)],
  ["m1.retry(); retryAll(7)", result({ ...RB(7), ...RM() }), retry(7), retry(7)],
  ["throw", result(THROWN), DEFAULT, DEFAULT],
  ["m1.ack; throw", result({ ...THROWN, ...EA }), ack, DEFAULT],
  ["m1.retry(3); throw", result({ ...THROWN, ...RM(3) }), retry(3), DEFAULT],
  ["m1.retry(); throw", result({ ...THROWN, ...RM() }), DEFAULT, DEFAULT],
  ["ackAll; throw", result({ ...THROWN, ackAll: true }), ack, ack],
  ["retryAll(3); throw", result({ ...THROWN, ...RB(3) }), retry(3), retry(3)],
];

describe("settlement of every program of spec 2.3", () => {
  it.each(ROWS)("%s", (_program, reported, m1, m2) => {
    expect(settle(reported, ["m1", "m2"], RETRY_DELAY)).toEqual([m1, m2]);
    // Where the consumer's delay is left open, that and nothing else changes.
    const open = [m1, m2].map((settlement) =>
      settlement === DEFAULT ? { ...DEFAULT, delaySeconds: null } : settlement,
    );
    expect(settle(reported, ["m1", "m2"], null)).toEqual(open);
    // One word says as much where it takes the place of the result.
    const reply = deliveryReply(reported);
    if (reply === "acknowledged") expect([m1, m2]).toEqual([ack, ack]);
    else expect(reply).toBe(reported);
    expect(reply === "acknowledged").toBe(acknowledgesAll(reported));
  });

  it("is one word where a handler returns and has asked for nothing again", () => {
    const replies = ROWS.map(([program, reported]): [string, unknown] => [program, deliveryReply(reported)]);
    const words = replies.filter(([, reply]) => reply === "acknowledged").map(([program]) => program);
    expect(words).toEqual([
      "(nothing)",
      "m1.ack",
      "m1.ack; m1.ack",
      "m1.ack; m1.retry",
      "ackAll",
      "ackAll; retryAll",
      "ackAll; m1.ack",
      "ackAll; m1.retry",
      "m1.ack; ackAll",
    ]);
  });
});

describe("settlement of outcomes (spec 2.5)", () => {
  it.each(["exceededWallTime", "exceededCpu", "exceededMemory", "canceled", "aborted", "unknown"])(
    "%s retries what nobody acknowledged",
    (outcome) => {
      expect(settle(result({ outcome, ...EA }), ["m1", "m2"], RETRY_DELAY)).toEqual([ack, DEFAULT]);
    },
  );
});

describe("delays of a retry", () => {
  it("treats a negative delay as 0, wherever it is named, and says what was asked for", () => {
    const clamped = (asked: number) => ({ kind: "retry", delaySeconds: 0, clampedFromSeconds: asked });
    expect(settle(result(RM(-1)), ["m1"], RETRY_DELAY)).toEqual([clamped(-1)]);
    expect(settle(result(RB(-2_147_483_648)), ["m1"], RETRY_DELAY)).toEqual([clamped(-2_147_483_648)]);
  });

  it.each([DELAY_SECONDS_MAX - 1, DELAY_SECONDS_MAX])("keeps %i seconds", (seconds) => {
    expect(settle(result(RM(seconds)), ["m1"], RETRY_DELAY)).toEqual([retry(seconds)]);
    expect(settle(result(RB(seconds)), ["m1"], RETRY_DELAY)).toEqual([retry(seconds)]);
  });

  it("clamps a delay over 24 hours and says what was asked for", () => {
    const clamped = {
      kind: "retry",
      delaySeconds: DELAY_SECONDS_MAX,
      clampedFromSeconds: DELAY_SECONDS_MAX + 1,
    };
    expect(settle(result(RM(DELAY_SECONDS_MAX + 1)), ["m1"], RETRY_DELAY)).toEqual([clamped]);
    expect(settle(result(RB(DELAY_SECONDS_MAX + 1)), ["m1"], RETRY_DELAY)).toEqual([clamped]);
  });

  it("prefers an explicit 0 to the consumer's retry_delay", () => {
    expect(settle(result(RB(0)), ["m1"], RETRY_DELAY)).toEqual([retry(0)]);
    expect(settle(result({ ...RB(7), ...RM(0) }), ["m1", "m2"], RETRY_DELAY)).toEqual([retry(0), retry(7)]);
  });
});

describe("ids", () => {
  it("settles messages that share an id alike", () => {
    expect(settle(result(RM(3)), ["m1", "m1", "m2"], RETRY_DELAY)).toEqual([retry(3), retry(3), ack]);
  });

  it("ignores ids that are not in the batch", () => {
    expect(settle(result({ ...THROWN, explicitAcks: ["gone"] }), ["m1"], RETRY_DELAY)).toEqual([DEFAULT]);
  });

  it("settles nothing of an empty batch", () => {
    expect(settle(result(THROWN), [], RETRY_DELAY)).toEqual([]);
  });
});
