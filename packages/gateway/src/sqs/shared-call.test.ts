import { beforeEach, describe, expect, it } from "vitest";
import { CALL_LOST_MS, CALL_WEIGHT_MAX, CALLS_UNDER_WAY_MAX, SharedCall } from "./shared-call.ts";

/** A call under way, for the test to answer. */
interface Call {
  readonly items: readonly string[];
  answer(results?: readonly string[]): void;
  fail(error: unknown): void;
}

let calls: Call[];
let nowMs: number;
let shared: SharedCall<string, string>;
const kept: Promise<unknown>[] = [];
const run = (item: string) => shared.run(item, (promise) => void kept.push(promise));
/** Lets everything happen that waits for nothing. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

beforeEach(() => {
  calls = [];
  nowMs = 0;
  kept.length = 0;
  shared = new SharedCall({
    call: (items) =>
      new Promise((resolve, reject) => {
        const answer = (results = items.map((item) => item.toUpperCase())) => resolve(results);
        calls.push({ items, answer, fail: reject });
      }),
    weightOf: (item) => (item === "heavy" ? CALL_WEIGHT_MAX : 1),
    now: () => nowMs,
  });
});

const itemsOfCalls = () => calls.map(({ items }) => items);

describe("calls to a queue's object", () => {
  it("are made at once while few are under way", async () => {
    const results = ["a", "b"].map(run);
    expect(itemsOfCalls()).toEqual([["a"], ["b"]]);
    for (const { answer } of calls) answer();
    expect(await Promise.all(results)).toEqual(["A", "B"]);
    expect(shared.isIdle).toBe(true);
  });

  it("are shared by what comes while as many as may be are under way", async () => {
    const results = ["a", "b", "c", "d", "e"].map(run);
    expect(calls).toHaveLength(CALLS_UNDER_WAY_MAX);
    calls[0]?.answer();
    await settle();
    expect(itemsOfCalls()).toEqual([["a"], ["b"], ["c", "d", "e"]]);
    calls[1]?.answer();
    calls[2]?.answer();
    expect(await Promise.all(results)).toEqual(["A", "B", "C", "D", "E"]);
    await settle();
    expect(shared.isIdle).toBe(true);
  });

  it("take along no more than their weight, and one item at least", async () => {
    const results = ["a", "b", "c", "heavy", "heavy", "d"].map(run);
    calls[0]?.answer();
    await settle();
    expect(calls[2]?.items).toEqual(["c"]);
    calls[1]?.answer();
    await settle();
    expect(calls[3]?.items).toEqual(["heavy"]);
    calls[2]?.answer();
    await settle();
    expect(calls[4]?.items).toEqual(["heavy"]);
    calls[3]?.answer();
    await settle();
    for (const { answer } of calls) answer();
    expect(await Promise.all(results)).toEqual(["A", "B", "C", "HEAVY", "HEAVY", "D"]);
  });

  it("that fail reject what went along, and nothing else", async () => {
    const results = ["a", "b", "c", "d"].map(run);
    const outcomes = Promise.allSettled(results);
    calls[0]?.fail(new Error("broken"));
    await settle();
    calls[1]?.answer(["B"]);
    calls[2]?.answer(["C"]);
    const reasons = (await outcomes).map((each) => (each.status === "rejected" ? each.reason.message : "ok"));
    expect(reasons).toEqual([
      "broken",
      "ok",
      "a shared call was answered with too few results",
      "a shared call was answered with too few results",
    ]);
    expect(await Promise.race([run("again"), Promise.resolve(calls.at(-1)?.answer()).then(settle)])).toBe(
      "AGAIN",
    );
  });

  it("keep every request alive until its item is answered", async () => {
    const results = ["a", "b", "c"].map(run);
    expect(kept).toHaveLength(3);
    const outcomes = Promise.allSettled(results);
    calls[0]?.fail(new Error("broken"));
    calls[1]?.answer();
    await settle();
    calls[2]?.answer();
    await outcomes;
    expect(await Promise.all(kept)).toEqual([undefined, "B", "C"]);
  });

  it.each([
    [CALL_LOST_MS - 1, 0],
    [CALL_LOST_MS, 1],
  ])(
    "do not hold up others when the platform has ended their request: after %i ms %i more",
    async (ms, more) => {
      for (const item of ["a", "b"]) void run(item);
      nowMs = ms;
      void run("c");
      expect(calls).toHaveLength(CALLS_UNDER_WAY_MAX + more);
      for (const { answer } of calls) answer();
      await settle();
      for (const { answer } of calls) answer();
    },
  );
});
