import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  FIRST_ANSWER_MS_MAX,
  keepRunning,
  RESTART_PAUSES_MS,
  type Runtime,
  type RuntimeHost,
  STEADY_MS,
} from "./keep-running.ts";
import { PING_EVERY_MS } from "./pulse.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const SILENT_MS = 3 * PING_EVERY_MS;

class FakeRuntime implements Runtime {
  readonly #ended = Promise.withResolvers<number>();
  readonly ended = this.#ended.promise;
  readonly signals: NodeJS.Signals[] = [];
  answers: boolean;

  constructor(answers = true) {
    this.answers = answers;
  }

  kill(signal: NodeJS.Signals): void {
    this.signals.push(signal);
    this.end(signal === "SIGKILL" ? 137 : 143);
  }

  end(code: number): void {
    this.#ended.resolve(code);
  }
}

async function kept({ isOnlyReported = false, failingStarts = 0, firstAnswers = true } = {}) {
  const started: FakeRuntime[] = [];
  const reports: string[] = [];
  /** How long each one that has ended had run without being silent, in ms. */
  const ran: number[] = [];
  let failing = 0;
  const host: RuntimeHost<FakeRuntime> = {
    start: async (lastEnd) => {
      if (started.length > 0 && failing < failingStarts) {
        failing += 1;
        throw new Error("no port");
      }
      reports.push(`start after an end that was ${lastEnd.kind}`);
      const runtime = new FakeRuntime(started.length > 0 || firstAnswers);
      started.push(runtime);
      return runtime;
    },
    ping: (runtime, signal) =>
      runtime.answers
        ? Promise.resolve()
        : new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    silentMsMax: SILENT_MS,
    isOnlyReported,
    reportSilent: (ms, isStarting) =>
      reports.push(isStarting ? `silent for ${ms} ms since its start` : "silent"),
    judgeEnd: async (how, ranMs) => {
      reports.push(`ended: ${how}`);
      ran.push(ranMs);
      return { kind: "blamed", worker: "a", slotMs: 1 };
    },
    reportPause: (ms, failure) => reports.push(`pause ${ms}${failure === null ? "" : ` ${failure}`}`),
  };
  const running = await keepRunning(host, { kind: "planned" });
  const last = () => started.at(-1) as FakeRuntime;
  return { running, started, reports, ran, last };
}

describe("a runtime that is kept running", () => {
  it("is told how the one before this command ended, and ends with its own code when told to", async () => {
    const { running, reports, last } = await kept();
    expect(running.current).toBe(last());
    running.kill("SIGTERM");
    expect(last().signals).toEqual(["SIGTERM"]);
    expect(await running.ended).toBe(143);
    expect(reports).toEqual(["start after an end that was planned"]);
  });

  it("is ended when it is silent for too long, and started again", async () => {
    const { running, reports, ran, last, started } = await kept();
    const first = last();
    await vi.advanceTimersByTimeAsync(10 * PING_EVERY_MS);
    first.answers = false;
    await vi.advanceTimersByTimeAsync(SILENT_MS);
    expect(first.signals).toEqual([]);
    await vi.advanceTimersByTimeAsync(PING_EVERY_MS);
    expect(first.signals).toEqual(["SIGKILL"]);
    expect(reports).toEqual([
      "start after an end that was planned",
      "silent",
      "ended: silent",
      "start after an end that was blamed",
    ]);
    expect(ran).toEqual([11 * PING_EVERY_MS]);
    expect(running.current).toBe(started[1]);
    running.kill("SIGTERM");
    expect(await running.ended).toBe(143);
  });

  it("has longer for its first answer", async () => {
    const { running, reports, ran } = await kept({ firstAnswers: false });
    await vi.advanceTimersByTimeAsync(FIRST_ANSWER_MS_MAX - PING_EVERY_MS);
    expect(reports).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(PING_EVERY_MS);
    expect(reports[1]).toBe(`silent for ${FIRST_ANSWER_MS_MAX} ms since its start`);
    expect(ran).toEqual([0]);
    running.kill("SIGTERM");
  });

  it("is there for nobody from the moment on that it is given up", async () => {
    const { running, last } = await kept();
    await vi.advanceTimersByTimeAsync(PING_EVERY_MS);
    last().answers = false;
    last().kill = () => {};
    await vi.advanceTimersByTimeAsync(SILENT_MS + PING_EVERY_MS);
    expect(running.current).toBeNull();
  });

  it("is only told of where a debugger may have stopped it", async () => {
    const { running, reports, last } = await kept({ isOnlyReported: true });
    last().answers = false;
    await vi.advanceTimersByTimeAsync(10 * SILENT_MS);
    expect(reports).toEqual(["start after an end that was planned", "silent"]);
    expect(running.current).toBe(last());
  });

  it("is started again when it dies by itself, after longer and longer pauses", async () => {
    const { running, reports, last, started } = await kept();
    for (const pauseMs of [...RESTART_PAUSES_MS, RESTART_PAUSES_MS.at(-1) ?? 0]) {
      const count = started.length;
      last().end(139);
      await vi.advanceTimersByTimeAsync(Math.max(0, pauseMs - 1));
      if (pauseMs > 0) {
        expect([running.current, started.length]).toEqual([null, count]);
        expect(reports.at(-1)).toBe(`pause ${pauseMs}`);
      }
      await vi.advanceTimersByTimeAsync(1);
      expect(started).toHaveLength(count + 1);
    }
    expect(reports.filter((line) => line === "ended: 139")).toHaveLength(RESTART_PAUSES_MS.length + 1);
  });

  it("begins with no pause again when it has run for a while", async () => {
    const { reports, last, started } = await kept();
    for (let i = 0; i < 3; i++) {
      last().end(139);
      await vi.advanceTimersByTimeAsync(RESTART_PAUSES_MS[i] ?? 0);
    }
    expect(reports.at(-2)).toBe("pause 2000");
    await vi.advanceTimersByTimeAsync(STEADY_MS);
    last().end(139);
    await vi.advanceTimersByTimeAsync(0);
    expect(started).toHaveLength(5);
  });

  it("is started until that succeeds", async () => {
    const { reports, last, running } = await kept({ failingStarts: 2 });
    last().end(1);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(reports.slice(1)).toEqual([
      "ended: 1",
      "pause 1000 Error: no port",
      "pause 2000 Error: no port",
      "start after an end that was blamed",
    ]);
    expect(running.current).toBe(last());
  });

  it("does not start again when it is told to stop during a pause", async () => {
    const { running, last, started } = await kept();
    last().end(139);
    await vi.advanceTimersByTimeAsync(0);
    last().end(139);
    await vi.advanceTimersByTimeAsync(10);
    running.kill("SIGTERM");
    expect(await running.ended).toBe(0);
    expect(started).toHaveLength(2);
  });

  it("is not ended for its silence when it is about to end anyway", async () => {
    const { running, reports, last } = await kept();
    const runtime = last();
    runtime.answers = false;
    runtime.kill = (signal) => void runtime.signals.push(signal);
    running.kill("SIGTERM");
    await vi.advanceTimersByTimeAsync(10 * SILENT_MS);
    expect(runtime.signals).toEqual(["SIGTERM"]);
    expect(reports).toEqual(["start after an end that was planned"]);
  });
});
