import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { answersWithin, PING_EVERY_MS, Pulse } from "./pulse.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A runtime that answers unless it is told not to. */
function runtime() {
  const state = { answer: "at once" as "at once" | "never" | "refused", pings: 0, silent: 0, back: 0 };
  const open: (() => void)[] = [];
  const ping = (signal: AbortSignal) => {
    state.pings += 1;
    if (state.answer === "at once") return Promise.resolve();
    if (state.answer === "refused") return Promise.reject(new Error("connection refused"));
    return new Promise<void>((resolve, reject) => {
      open.push(resolve);
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  };
  const answerOpen = async () => {
    for (const answer of open.splice(0)) answer();
    await vi.advanceTimersByTimeAsync(0);
  };
  return { state, ping, answerOpen };
}

function watched(silentMsMax: number) {
  const { state, ping, answerOpen } = runtime();
  const pulse = new Pulse({
    ping,
    silentMsMax,
    onSilent: () => {
      state.silent += 1;
    },
    onBack: () => {
      state.back += 1;
    },
  });
  return { state, pulse, answerOpen };
}

describe("the pulse of a runtime", () => {
  it("says nothing about one that answers, however long that goes on", async () => {
    const { state, pulse } = watched(3 * PING_EVERY_MS);
    await vi.advanceTimersByTimeAsync(60 * PING_EVERY_MS);
    expect(state).toMatchObject({ pings: 61, silent: 0 });
    expect(pulse.silentMs).toBe(0);
    pulse.stop();
  });

  it.each([
    [-1, 0],
    [0, 1],
    [1, 1],
  ])("says once that it is silent when it has been for so long: %i ms of the limit", async (more, times) => {
    const { state, pulse } = watched(3 * PING_EVERY_MS);
    state.answer = "never";
    // The question that is asked at the start is answered.
    await vi.advanceTimersByTimeAsync(PING_EVERY_MS);
    await vi.advanceTimersByTimeAsync(3 * PING_EVERY_MS + more);
    expect(state.silent).toBe(times);
    await vi.advanceTimersByTimeAsync(60 * PING_EVERY_MS);
    expect(state.silent).toBe(1);
    pulse.stop();
  });

  it("takes one that is busy for less than that for alive, and asks it one question meanwhile", async () => {
    const { state, pulse, answerOpen } = watched(3 * PING_EVERY_MS);
    state.answer = "never";
    await vi.advanceTimersByTimeAsync(3 * PING_EVERY_MS);
    const { pings } = state;
    expect(pulse.silentMs).toBe(2 * PING_EVERY_MS);
    await answerOpen();
    expect(pulse.silentMs).toBe(0);
    expect(pings).toBe(2);
    await vi.advanceTimersByTimeAsync(2 * PING_EVERY_MS);
    expect(state.silent).toBe(0);
    pulse.stop();
  });

  it("says that one is back, and again that it is silent", async () => {
    const { state, pulse, answerOpen } = watched(PING_EVERY_MS);
    state.answer = "never";
    await vi.advanceTimersByTimeAsync(2 * PING_EVERY_MS);
    await answerOpen();
    expect(state).toMatchObject({ silent: 1, back: 1 });
    await vi.advanceTimersByTimeAsync(2 * PING_EVERY_MS);
    expect(state).toMatchObject({ silent: 2, back: 1 });
    pulse.stop();
  });

  it.each([
    [-1, 0],
    [0, 1],
    [1, 1],
  ])("lets one take longer for its first answer: %i ms of that limit", async (more, times) => {
    const { state, ping } = runtime();
    state.answer = "never";
    const onSilent = vi.fn();
    const limits = { silentMsMax: 3 * PING_EVERY_MS, firstAnswerMsMax: 9 * PING_EVERY_MS };
    const pulse = new Pulse({ ping, ...limits, onSilent });
    await vi.advanceTimersByTimeAsync(9 * PING_EVERY_MS + more);
    expect(onSilent.mock.calls).toEqual(Array.from({ length: times }, () => [9 * PING_EVERY_MS, true]));
    pulse.stop();
  });

  it("goes by the usual limit once one has answered", async () => {
    const { state, ping, answerOpen } = runtime();
    state.answer = "never";
    const onSilent = vi.fn();
    const limits = { silentMsMax: 3 * PING_EVERY_MS, firstAnswerMsMax: 9 * PING_EVERY_MS };
    const pulse = new Pulse({ ping, ...limits, onSilent });
    await vi.advanceTimersByTimeAsync(5 * PING_EVERY_MS);
    await answerOpen();
    await vi.advanceTimersByTimeAsync(4 * PING_EVERY_MS);
    expect(onSilent.mock.calls).toEqual([[3 * PING_EVERY_MS, false]]);
    pulse.stop();
  });

  it("takes one that cannot be reached for silent", async () => {
    const { state, pulse } = watched(2 * PING_EVERY_MS);
    state.answer = "refused";
    await vi.advanceTimersByTimeAsync(4 * PING_EVERY_MS);
    expect(state.silent).toBe(1);
    pulse.stop();
  });

  it("asks no more when it is stopped", async () => {
    const { state, pulse } = watched(PING_EVERY_MS);
    pulse.stop();
    const { pings } = state;
    await vi.advanceTimersByTimeAsync(10 * PING_EVERY_MS);
    expect(state).toMatchObject({ pings, silent: 0 });
  });
});

describe("whether a runtime answers within a time", () => {
  it.each([
    ["at once", true],
    ["refused", false],
  ] as const)("is told: %s", async (answer, expected) => {
    const { state, ping } = runtime();
    state.answer = answer;
    expect(await answersWithin(ping, 1_000)).toBe(expected);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is told when the time is over", async () => {
    const { state, ping } = runtime();
    state.answer = "never";
    const answers = answersWithin(ping, 1_000);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await answers).toBe(false);
  });
});
