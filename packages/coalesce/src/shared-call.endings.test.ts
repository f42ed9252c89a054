import { beforeEach, describe, expect, it } from "vitest";
import {
  calls,
  itemsOfCalls,
  nowMs,
  pass,
  run,
  setNow,
  settle,
  shared,
  startOver,
  timers,
} from "../test/shared-calls.ts";
import { CALL_LOST_MS, CALLS_UNDER_WAY_MAX, COALESCE_MS_MAX, SharedCallLostError } from "./shared-call.ts";

beforeEach(startOver);

describe("a request that the platform ends", () => {
  it("a request that the platform ends before it makes the call that it was woken up for leaves that to those who wait too", async () => {
    let isGone = false;
    const gone = run("a");
    // The continuation of a request that is gone never runs: here, its timer does not either.
    const item = shared.run("gone", () => {
      for (const timer of timers) timers.delete(timer);
    });
    item.then(() => {
      isGone = true;
    });
    await settle();
    const waiting = run("b");
    calls[0]?.answer();
    await gone;
    await settle();
    expect(itemsOfCalls()).toEqual([["a"], ["gone", "b"]]);
    calls[1]?.answer();
    expect(await waiting).toBe("B");
    await settle();
    expect(isGone).toBe(true);
  });

  it.each([
    [CALL_LOST_MS - 1, "waits"],
    [CALL_LOST_MS, "lost"],
  ])("holds up no other for ever: after %i ms one that shared its call %s", async (ms, what) => {
    void run("a");
    const results = [run("b"), run("c")];
    await pass(COALESCE_MS_MAX);
    expect(itemsOfCalls()).toEqual([["a"], ["b", "c"]]);
    const state = Promise.race([
      results[1]?.catch((error) => (error instanceof SharedCallLostError ? "lost" : error)),
      // As far as the time goes, and each waiter looks once more.
      (async () => {
        await pass(ms);
        for (const timer of timers) timer.callback();
        await settle();
        return "waits";
      })(),
    ]);
    expect(await state).toBe(what);
    expect(calls.filter(({ items }) => items.includes("c"))).toHaveLength(1);
    for (const { answer } of calls) answer();
    await Promise.allSettled(results);
  });

  it.each([
    [CALL_LOST_MS - 1, 0],
    [CALL_LOST_MS, 1],
  ])("holds up others no longer: %i ms after its call %i more is made", async (ms, more) => {
    for (let i = 0; i < CALLS_UNDER_WAY_MAX; i++) {
      void run(`${i}`);
      setNow(nowMs + COALESCE_MS_MAX);
    }
    setNow(ms);
    const before = calls.length;
    void run("c");
    expect(calls.length - before).toBe(more);
    for (const { answer } of calls) answer();
    await settle();
    for (const { answer } of calls) answer();
  });
});

it("a call that is lost and answered all the same changes nothing for those who came later", async () => {
  void run("a");
  // It makes the call that is lost.
  void run("b");
  const lost = run("c").catch((error) => error);
  calls[0]?.answer();
  await pass(2 * CALL_LOST_MS);
  expect(itemsOfCalls()).toEqual([["a"], ["b", "c"]]);
  expect(await lost).toBeInstanceOf(SharedCallLostError);
  expect(shared.isIdle).toBe(true);
  const later = run("d");
  calls[1]?.answer();
  await settle();
  expect(shared.isIdle).toBe(false);
  calls[2]?.answer();
  expect(await later).toBe("D");
  expect(shared.isIdle).toBe(true);
});
