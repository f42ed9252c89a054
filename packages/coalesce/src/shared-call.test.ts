import { beforeEach, describe, expect, it } from "vitest";
import {
  calls,
  itemsOfCalls,
  kept,
  nowMs,
  pass,
  run,
  setNow,
  settle,
  shareAgain,
  shared,
  startOver,
  timers,
  WEIGHT_MAX,
} from "../test/shared-calls.ts";
import { CALLS_UNDER_WAY_MAX, COALESCE_MS_MAX, LINGER_MS, LINGER_SHARE, WAIT_MS_MAX } from "./shared-call.ts";

beforeEach(startOver);

describe("calls to a queue's object", () => {
  it("calls to a queue's object are made at once while none is under way, without a timer", async () => {
    for (const item of ["a", "b"]) {
      const result = run(item);
      expect(timers.size).toBe(0);
      calls.at(-1)?.answer();
      expect(await result).toBe(item.toUpperCase());
    }
    expect(itemsOfCalls()).toEqual([["a"], ["b"]]);
    expect(shared.isIdle).toBe(true);
  });

  it("calls to a queue's object are shared, in order, by what comes while one is under way", async () => {
    const results = ["a", "b", "c", "d"].map(run);
    expect(itemsOfCalls()).toEqual([["a"]]);
    calls[0]?.answer();
    await settle();
    expect(itemsOfCalls()).toEqual([["a"], ["b", "c", "d"]]);
    expect(shared.isIdle).toBe(false);
    calls[1]?.answer();
    expect(await Promise.all(results)).toEqual(["A", "B", "C", "D"]);
    expect(shared.isIdle).toBe(true);
    expect(timers.size).toBe(0);
  });

  it.each([
    [COALESCE_MS_MAX - 1, [["a"]]],
    [COALESCE_MS_MAX, [["a"], ["b"]]],
    [COALESCE_MS_MAX + 1, [["a"], ["b"]]],
  ])(
    "calls to a queue's object hold up what comes %i ms after one was begun only as long as that one is young",
    async (ms, made) => {
      const results = [run("a")];
      setNow(ms);
      results.push(run("b"));
      expect(itemsOfCalls()).toEqual(made);
      await pass(COALESCE_MS_MAX);
      expect(itemsOfCalls()).toEqual([["a"], ["b"]]);
      for (const { answer } of calls) answer();
      expect(await Promise.all(results)).toEqual(["A", "B"]);
    },
  );

  it("calls to a queue's object are begun by who waits as soon as the one under way is no longer young, for all who wait", async () => {
    const results = ["a", "b", "c"].map(run);
    await pass(COALESCE_MS_MAX - 1);
    expect(itemsOfCalls()).toEqual([["a"]]);
    await pass(1);
    expect(itemsOfCalls()).toEqual([["a"], ["b", "c"]]);
    for (const { answer } of calls) answer();
    expect(await Promise.all(results)).toEqual(["A", "B", "C"]);
  });

  it("calls to a queue's object are only so many at a time", async () => {
    const results: Promise<string>[] = [];
    for (let i = 0; i < CALLS_UNDER_WAY_MAX; i++) {
      results.push(run(`${i}`));
      await pass(COALESCE_MS_MAX);
    }
    results.push(run("last"));
    await pass(WAIT_MS_MAX / 2);
    expect(calls).toHaveLength(CALLS_UNDER_WAY_MAX);
    calls[1]?.answer();
    await settle();
    expect(calls.at(-1)?.items).toEqual(["last"]);
    for (const { answer } of calls) answer();
    expect(await Promise.all(results)).toEqual(["0", "1", "2", "3", "LAST"]);
  });

  it("calls to a queue's object are made over that number by who has waited too long", async () => {
    for (let i = 0; i < CALLS_UNDER_WAY_MAX; i++) {
      void run(`${i}`);
      await pass(COALESCE_MS_MAX);
    }
    const result = run("impatient");
    await pass(WAIT_MS_MAX - 1);
    expect(calls).toHaveLength(CALLS_UNDER_WAY_MAX);
    await pass(WAIT_MS_MAX);
    expect(calls.at(-1)?.items).toEqual(["impatient"]);
    calls.at(-1)?.answer();
    expect(await result).toBe("IMPATIENT");
    for (const { answer } of calls) answer();
  });

  it.each([
    [4, 0.75 * 4 - 1, [["a"], ["b", "b", "b", "b"]]],
    [4, 0.75 * 4, [["a"], ["b", "b", "b", "b"], ["c", "c", "c"]]],
    // No request is waited for after a call that carried one item.
    [1, 1, [["a"], ["b"], ["c"]]],
  ])(
    "calls to a queue's object that %i shared are followed by one as soon as %i wait for it",
    async (sharing, waiting, made) => {
      expect(LINGER_SHARE).toBe(0.75);
      const results = [run("a"), ...Array.from({ length: sharing }, () => run("b"))];
      calls[0]?.answer();
      await settle();
      calls[1]?.answer();
      await settle();
      results.push(...Array.from({ length: waiting }, () => run("c")));
      expect(itemsOfCalls()).toEqual(made);
      await pass(LINGER_MS);
      for (const { answer } of calls) answer();
      expect(await Promise.all(results)).toHaveLength(1 + sharing + waiting);
    },
  );

  it("calls to a queue's object wait with who waits already for those who were answered together, so that one group sends", async () => {
    const results = ["a", "b", "b", "b", "b"].map(run);
    calls[0]?.answer();
    await settle();
    results.push(run("c"));
    calls[1]?.answer();
    await settle();
    results.push(run("d"), run("d"));
    expect(calls).toHaveLength(2);
    results.push(run("d"));
    expect(calls[2]?.items).toEqual(["c", "d", "d", "d"]);
    calls[2]?.answer();
    expect(await Promise.all(results)).toHaveLength(9);
  });

  it.each([
    [LINGER_MS - 1, 2],
    [LINGER_MS, 3],
    [LINGER_MS + 1, 3],
  ])(
    "calls to a queue's object wait %i ms at most for those who were answered together to come again: %i calls",
    async (ms, made) => {
      const early = ["a", "b", "b", "b"].map(run);
      calls[0]?.answer();
      await settle();
      calls[1]?.answer();
      await Promise.all(early);
      const result = run("c");
      await pass(ms);
      expect(calls).toHaveLength(made);
      await pass(LINGER_MS);
      calls[2]?.answer();
      expect(await result).toBe("C");
    },
  );

  it.each([
    [undefined, 3],
    [LINGER_MS, 2],
  ])(
    "calls to a queue's object do not linger without `lingerMs`: %s ms, %i calls",
    async (lingerMs, made) => {
      shareAgain(lingerMs === undefined ? {} : { lingerMs });
      const results = ["a", "b", "b", "b"].map(run);
      calls[0]?.answer();
      await settle();
      calls[1]?.answer();
      await settle();
      results.push(run("c"));
      expect(calls).toHaveLength(made);
      await pass(LINGER_MS);
      calls[2]?.answer();
      expect(await Promise.all(results)).toHaveLength(5);
    },
  );

  it("calls to a queue's object are idle when none is under way any more and no item waits", async () => {
    shareAgain({});
    const results = ["a", "b", "c"].map(run);
    calls[0]?.answer();
    await settle();
    expect(shared.isIdle).toBe(false);
    calls[1]?.answer();
    await Promise.all(results);
    expect(shared.isIdle).toBe(true);
  });

  it("calls to a queue's object take no more along than their weight", async () => {
    for (let i = 0; i < CALLS_UNDER_WAY_MAX; i++) {
      void run(`${i}`);
      setNow(nowMs + COALESCE_MS_MAX);
    }
    const results = ["a", "heavy", "b", "heavy", "heavy", "c"].map(run);
    for (let i = 0; i < CALLS_UNDER_WAY_MAX + 6; i++) {
      calls[i]?.answer();
      await pass(LINGER_MS);
    }
    expect(itemsOfCalls().slice(CALLS_UNDER_WAY_MAX)).toEqual([
      ["a"],
      ["heavy"],
      ["b"],
      ["heavy"],
      ["heavy"],
      ["c"],
    ]);
    expect(await Promise.all(results)).toEqual(["A", "HEAVY", "B", "HEAVY", "HEAVY", "C"]);
    expect(shared.isIdle).toBe(true);
  });

  it.each([
    [WEIGHT_MAX - 1, 1],
    [WEIGHT_MAX, 2],
    [WEIGHT_MAX + 1, 2],
  ])(
    "calls to a queue's object do not linger when they are full: %i waiting, %i calls",
    async (waiting, made) => {
      const results = [run("a"), ...Array.from({ length: waiting }, () => run("b"))];
      expect(calls).toHaveLength(made);
      for (let i = 0; i < 3; i++) {
        calls[i]?.answer();
        await pass(LINGER_MS);
      }
      expect(await Promise.all(results)).toHaveLength(1 + waiting);
    },
  );

  it("calls to a queue's object that fail reject what went along, and nothing else", async () => {
    const outcomes = Promise.allSettled(["a", "b", "c"].map(run));
    calls[0]?.fail(new Error("broken"));
    await settle();
    const later = run("d");
    calls[1]?.answer(["B"]);
    await pass(LINGER_MS);
    calls[2]?.answer();
    const reasons = (await outcomes).map((each) => (each.status === "rejected" ? each.reason.message : "ok"));
    const tooFew = "a shared call was answered with too few results";
    expect(reasons).toEqual(["broken", tooFew, tooFew]);
    expect(await later).toBe("D");
  });

  it("calls to a queue's object keep every request alive until its item is answered", async () => {
    const outcomes = Promise.allSettled(["a", "b", "c"].map(run));
    expect(kept).toHaveLength(3);
    calls[0]?.fail(new Error("broken"));
    await settle();
    calls[1]?.answer();
    await outcomes;
    expect(await Promise.all(kept)).toEqual([undefined, "B", "C"]);
  });
});
