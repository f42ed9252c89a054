import { EventEmitter } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { stopOnSignals } from "./stop.ts";

describe("stopping workerd", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function start(finish: Parameters<typeof stopOnSignals>[1] = () => Promise.resolve()) {
    const signals = new EventEmitter();
    const { promise: ended, resolve: end } = Promise.withResolvers<number>();
    const kills: NodeJS.Signals[] = [];
    const code = stopOnSignals({ ended, kill: (signal) => kills.push(signal) }, finish, signals);
    return { signals, end, kills, code };
  }

  it.each(["SIGINT", "SIGTERM", "SIGHUP"])(
    "at %s asks it to finish, and that is a success",
    async (signal) => {
      const finish = vi.fn(() => Promise.resolve());
      const { signals, end, kills, code } = start(finish);
      signals.emit(signal, signal);
      expect(finish).toHaveBeenCalledWith(expect.any(AbortSignal), signal);
      await vi.advanceTimersByTimeAsync(0);
      expect(kills).toEqual(["SIGTERM"]);
      end(143);
      expect(await code).toBe(0);
      expect(signals.listenerCount(signal)).toBe(0);
    },
  );

  it("at a second signal ends it at once", async () => {
    const { signals, kills } = start();
    signals.emit("SIGINT");
    await vi.advanceTimersByTimeAsync(0);
    signals.emit("SIGINT");
    expect(kills).toEqual(["SIGTERM", "SIGKILL"]);
  });

  it("ends it when it does not finish within five seconds", async () => {
    const { signals, kills } = start();
    signals.emit("SIGTERM");
    await vi.advanceTimersByTimeAsync(4_999);
    expect(kills).toEqual(["SIGTERM"]);
    vi.advanceTimersByTime(1);
    expect(kills).toEqual(["SIGTERM", "SIGKILL"]);
  });

  it("waits for what is to be finished, unless it is told to stop once more", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { signals, kills } = start(() => promise);
    signals.emit("SIGINT");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(kills).toEqual([]);
    signals.emit("SIGINT");
    expect(kills).toEqual(["SIGKILL"]);
    resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(kills).toEqual(["SIGKILL"]);
  });

  it("answers the exit code of a workerd that ended by itself", async () => {
    const { end, code } = start();
    end(134);
    expect(await code).toBe(134);
  });
});
