import { beforeEach, describe, expect, it } from "vitest";
import {
  calls,
  itemsOfCalls,
  nowMs,
  pass,
  run,
  setClockBack,
  setNow,
  settle,
  shared,
  startOver,
  timers,
} from "../test/shared-calls.ts";
import {
  CALL_LOST_MS,
  CALLS_UNDER_WAY_MAX,
  CLOCK_BEHIND_MS_MAX,
  COALESCE_MS_MAX,
  LINGER_MS,
  SharedCallLostError,
  WAIT_MS_MAX,
} from "./shared-call.ts";

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

describe("a clock that is set back", () => {
  const HOUR_MS = 3_600_000;

  it("a clock that is set back holds up no item while a call is under way", async () => {
    void run("a");
    setClockBack(HOUR_MS);
    void run("b");
    await pass(COALESCE_MS_MAX);
    expect(itemsOfCalls()).toEqual([["a"], ["b"]]);
  });

  it("a clock that is set back holds up no item after a shared call", async () => {
    for (const item of ["a", "b", "c", "d", "e"]) void run(item);
    calls[0]?.answer();
    await settle();
    calls[1]?.answer();
    await settle();
    setClockBack(HOUR_MS);
    void run("f");
    await pass(LINGER_MS);
    expect(itemsOfCalls().at(-1)).toEqual(["f"]);
  });

  it("a clock that is set back makes a call lost neither sooner nor later", async () => {
    void run("a");
    setClockBack(HOUR_MS);
    // The request that makes the call waits for it; another one that shares it does not.
    void run("b");
    let lost: unknown = null;
    run("c").catch((error: unknown) => {
      lost = error;
    });
    await pass(COALESCE_MS_MAX + CALL_LOST_MS - 1);
    expect(lost).toBeNull();
    await pass(WAIT_MS_MAX);
    expect(lost).toBeInstanceOf(SharedCallLostError);
  });

  it("a request whose clock is a little behind makes the time run no faster", async () => {
    const [first, , shared] = [run("a"), run("b"), run("c")];
    calls[0]?.answer();
    await first;
    await settle();
    expect(itemsOfCalls()).toEqual([["a"], ["b", "c"]]);
    for (let i = 0; i < 2 * (CALL_LOST_MS / CLOCK_BEHIND_MS_MAX); i++) {
      setClockBack(i % 2 === 0 ? CLOCK_BEHIND_MS_MAX : 0);
      void run("d");
    }
    // It looks once more.
    await pass(COALESCE_MS_MAX);
    calls[1]?.answer();
    expect(await shared).toBe("C");
  });
});
