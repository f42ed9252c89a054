import { describe, expect, it } from "vitest";
import { resultOf } from "../../test/delivery-result.ts";
import { DELAY_SECONDS_MAX } from "../limits.ts";
import type { DeliveryResult } from "./consumer.ts";
import { acknowledgesAll, deliveryReply, type Settlement, settle } from "./settlement.ts";

const RETRY_DELAY = 11;
const ack: Settlement = { kind: "ack" };
const retry = (delaySeconds: number): Settlement => ({ kind: "retry", delaySeconds });
const DEFAULT = retry(RETRY_DELAY);

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
  ["(nothing)", resultOf(), ack, ack],
  ["m1.ack", resultOf(EA), ack, ack],
  ["m1.ack; m1.ack", resultOf(EA), ack, ack],
  ["m1.retry", resultOf(RM()), DEFAULT, ack],
  ["m1.retry(5)", resultOf(RM(5)), retry(5), ack],
  ["m1.retry(5); m1.retry()", resultOf(RM()), DEFAULT, ack],
  ["m1.retry(5); m1.retry(9)", resultOf(RM(9)), retry(9), ack],
  ["m1.retry(); m1.retry(9)", resultOf(RM(9)), retry(9), ack],
  ["m1.retry(0)", resultOf(RM(0)), retry(0), ack],
  ["m1.ack; m1.retry", resultOf(EA), ack, ack],
  ["m1.retry; m1.ack", resultOf(RM()), DEFAULT, ack],
  ["ackAll", resultOf({ ackAll: true }), ack, ack],
  ["retryAll", resultOf(RB()), DEFAULT, DEFAULT],
  ["retryAll(4)", resultOf(RB(4)), retry(4), retry(4)],
  ["retryAll(4); retryAll()", resultOf(RB(4)), retry(4), retry(4)],
  ["retryAll(); retryAll(8)", resultOf(RB(8)), retry(8), retry(8)],
  ["ackAll; retryAll", resultOf({ ackAll: true }), ack, ack],
  ["retryAll; ackAll", resultOf(RB()), DEFAULT, DEFAULT],
  ["ackAll; m1.ack", resultOf({ ackAll: true }), ack, ack],
  ["ackAll; m1.retry", resultOf({ ackAll: true }), ack, ack],
  ["retryAll; m1.ack", resultOf(RB()), DEFAULT, DEFAULT],
  ["retryAll(4); m1.retry(2)", resultOf({ ...RB(4), ...RM(2) }), retry(2), retry(4)],
  ["m1.ack; ackAll", resultOf({ ackAll: true, ...EA }), ack, ack],
  ["m1.ack; retryAll", resultOf({ ...RB(), ...EA }), ack, DEFAULT],
  ["m1.retry(3); ackAll", resultOf({ ackAll: true, ...RM(3) }), retry(3), ack],
  ["m1.retry(3); retryAll(7)", resultOf({ ...RB(7), ...RM(3) }), retry(3), retry(7)],
  ["m1.retry(); retryAll(7)", resultOf({ ...RB(7), ...RM() }), retry(7), retry(7)],
  ["throw", resultOf(THROWN), DEFAULT, DEFAULT],
  ["m1.ack; throw", resultOf({ ...THROWN, ...EA }), ack, DEFAULT],
  ["m1.retry(3); throw", resultOf({ ...THROWN, ...RM(3) }), retry(3), DEFAULT],
  ["m1.retry(); throw", resultOf({ ...THROWN, ...RM() }), DEFAULT, DEFAULT],
  ["ackAll; throw", resultOf({ ...THROWN, ackAll: true }), ack, ack],
  ["retryAll(3); throw", resultOf({ ...THROWN, ...RB(3) }), retry(3), retry(3)],
];

describe("settlement of every program of spec 2.3", () => {
  it.each(ROWS)("the program %s settles both messages as the spec says", (_program, reported, m1, m2) => {
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

// conformance: outcomes
describe("settlement of outcomes (spec 2.5)", () => {
  it.each(["exceededWallTime", "exceededCpu", "exceededMemory", "canceled", "aborted", "unknown"])(
    "%s retries messages that were not acknowledged",
    (outcome) => {
      expect(settle(resultOf({ outcome, ...EA }), ["m1", "m2"], RETRY_DELAY)).toEqual([ack, DEFAULT]);
    },
  );
});

describe("delays of a retry", () => {
  it("treats a negative delay as 0, wherever it is named, and says what was asked for", () => {
    const clamped = (asked: number) => ({ kind: "retry", delaySeconds: 0, clampedFromSeconds: asked });
    expect(settle(resultOf(RM(-1)), ["m1"], RETRY_DELAY)).toEqual([clamped(-1)]);
    expect(settle(resultOf(RB(-2_147_483_648)), ["m1"], RETRY_DELAY)).toEqual([clamped(-2_147_483_648)]);
  });

  it.each([DELAY_SECONDS_MAX - 1, DELAY_SECONDS_MAX])("keeps %i seconds", (seconds) => {
    expect(settle(resultOf(RM(seconds)), ["m1"], RETRY_DELAY)).toEqual([retry(seconds)]);
    expect(settle(resultOf(RB(seconds)), ["m1"], RETRY_DELAY)).toEqual([retry(seconds)]);
  });

  it("clamps a delay over 24 hours and says what was asked for", () => {
    const clamped = {
      kind: "retry",
      delaySeconds: DELAY_SECONDS_MAX,
      clampedFromSeconds: DELAY_SECONDS_MAX + 1,
    };
    expect(settle(resultOf(RM(DELAY_SECONDS_MAX + 1)), ["m1"], RETRY_DELAY)).toEqual([clamped]);
    expect(settle(resultOf(RB(DELAY_SECONDS_MAX + 1)), ["m1"], RETRY_DELAY)).toEqual([clamped]);
  });

  // conformance: retry-delays
  it("prefers an explicit 0 to the consumer's retry_delay", () => {
    expect(settle(resultOf(RB(0)), ["m1"], RETRY_DELAY)).toEqual([retry(0)]);
    expect(settle(resultOf({ ...RB(7), ...RM(0) }), ["m1", "m2"], RETRY_DELAY)).toEqual([retry(0), retry(7)]);
  });
});

describe("ids", () => {
  // conformance: same-id-twice
  it("settles messages that share an id alike", () => {
    expect(settle(resultOf(RM(3)), ["m1", "m1", "m2"], RETRY_DELAY)).toEqual([retry(3), retry(3), ack]);
  });

  it("ignores ids that are not in the batch", () => {
    expect(settle(resultOf({ ...THROWN, explicitAcks: ["gone"] }), ["m1"], RETRY_DELAY)).toEqual([DEFAULT]);
  });

  it("settles nothing of an empty batch", () => {
    expect(settle(resultOf(THROWN), [], RETRY_DELAY)).toEqual([]);
  });
});
