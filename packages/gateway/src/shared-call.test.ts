import { CALL_LOST_MS } from "@sluice/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { CALL_WEIGHT_MAX, CALLS_UNDER_WAY_MAX, COMPANY_MS_MAX, SharedCall, setTimer } from "./shared-call.ts";

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
    setTimer,
  });
});

const itemsOfCalls = () => calls.map(({ items }) => items);

describe("calls to a queue's object", () => {
  it("are made at once while none is under way", async () => {
    for (const item of ["a", "b"]) {
      const result = run(item);
      calls.at(-1)?.answer();
      expect(await result).toBe(item.toUpperCase());
      await settle();
    }
    expect(itemsOfCalls()).toEqual([["a"], ["b"]]);
    expect(shared.isIdle).toBe(true);
  });

  it("are shared by what comes before they are made, where they wait for company", async () => {
    shared = new SharedCall({
      call: async (items) => {
        calls.push({ items, answer: () => {}, fail: () => {} });
        return items.map((item) => item.toUpperCase());
      },
      weightOf: () => 1,
      now: () => nowMs,
      setTimer,
      gather: settle,
    });
    expect(await Promise.all([run("a"), run("b")])).toEqual(["A", "B"]);
    expect(await run("c")).toBe("C");
    expect(itemsOfCalls()).toEqual([["a", "b"], ["c"]]);
  });

  it("say when none is under way any more and nobody waits", async () => {
    let idle = 0;
    shared = new SharedCall({
      call: async (items) => items.map((item) => item.toUpperCase()),
      weightOf: () => 1,
      now: () => nowMs,
      setTimer,
      idle: () => {
        idle += 1;
        expect(shared.isIdle).toBe(true);
      },
    });
    const results = ["a", "b", "c"].map(run);
    expect(idle).toBe(0);
    expect(await Promise.all(results)).toEqual(["A", "B", "C"]);
    await settle();
    expect(idle).toBe(1);
  });

  it("are shared by what comes while one is under way", async () => {
    const results = ["a", "b", "c", "d"].map(run);
    expect(itemsOfCalls()).toEqual([["a"]]);
    calls[0]?.answer();
    await settle();
    expect(itemsOfCalls()).toEqual([["a"], ["b", "c", "d"]]);
    expect(shared.isIdle).toBe(false);
    calls[1]?.answer();
    expect(await Promise.all(results)).toEqual(["A", "B", "C", "D"]);
    await settle();
    expect(shared.isIdle).toBe(true);
  });

  it("take what waits along as soon as those under way have taken their time, and only so many", async () => {
    const results = [run("0")];
    for (let i = 1; i < CALLS_UNDER_WAY_MAX; i++) {
      nowMs += COMPANY_MS_MAX - 1;
      results.push(run(`${i}w`));
      nowMs += 1;
      results.push(run(`${i}`));
      expect(calls.at(-1)?.items).toEqual([`${i}w`, `${i}`]);
    }
    expect(calls).toHaveLength(CALLS_UNDER_WAY_MAX);
    nowMs += COMPANY_MS_MAX;
    results.push(run("last"));
    expect(calls).toHaveLength(CALLS_UNDER_WAY_MAX);
    calls[1]?.answer();
    await settle();
    expect(calls.at(-1)?.items).toEqual(["last"]);
    for (const { answer } of calls) answer();
    expect(await Promise.all(results)).toHaveLength(2 * CALLS_UNDER_WAY_MAX);
  });

  it("take along no more than their weight, and one item at least", async () => {
    const results = ["a", "b", "heavy", "heavy", "c"].map(run);
    for (const items of [["a"], ["b"], ["heavy"], ["heavy"], ["c"]]) {
      expect(calls.at(-1)?.items).toEqual(items);
      calls.at(-1)?.answer();
      await settle();
    }
    expect(await Promise.all(results)).toEqual(["A", "B", "HEAVY", "HEAVY", "C"]);
  });

  it("that fail reject what went along, and nothing else", async () => {
    const outcomes = Promise.allSettled(["a", "b", "c"].map(run));
    calls[0]?.fail(new Error("broken"));
    await settle();
    const later = run("d");
    calls[1]?.answer(["B"]);
    await settle();
    calls[2]?.answer();
    const reasons = (await outcomes).map((each) => (each.status === "rejected" ? each.reason.message : "ok"));
    const tooFew = "a shared call was answered with too few results";
    expect(reasons).toEqual(["broken", tooFew, tooFew]);
    expect(await later).toBe("D");
  });

  it("keep every request alive until its item is answered", async () => {
    const outcomes = Promise.allSettled(["a", "b", "c"].map(run));
    expect(kept).toHaveLength(3);
    calls[0]?.fail(new Error("broken"));
    await settle();
    calls[1]?.answer();
    await outcomes;
    expect(await Promise.all(kept)).toEqual([undefined, "B", "C"]);
  });

  it.each([
    [CALL_LOST_MS - 1, 0],
    [CALL_LOST_MS, 1],
  ])(
    "do not hold up others when the platform has ended their request: after %i ms %i more",
    async (ms, more) => {
      for (let i = 0; i < CALLS_UNDER_WAY_MAX; i++) {
        void run(`${i}`);
        nowMs += COMPANY_MS_MAX;
      }
      nowMs = ms;
      const before = calls.length;
      void run("c");
      expect(calls.length - before).toBe(more);
      for (const { answer } of calls) answer();
      await settle();
      for (const { answer } of calls) answer();
    },
  );
});
