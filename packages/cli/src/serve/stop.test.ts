import { EventEmitter } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { stopOnSignals } from "./stop.ts";

describe("stopping workerd", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function start() {
    const signals = new EventEmitter();
    const { promise: ended, resolve: end } = Promise.withResolvers<number>();
    const kills: NodeJS.Signals[] = [];
    const code = stopOnSignals({ ended, kill: (signal) => kills.push(signal) }, signals);
    return { signals, end, kills, code };
  }

  it.each(["SIGINT", "SIGTERM", "SIGHUP"])(
    "at %s asks it to finish, and that is a success",
    async (signal) => {
      const { signals, end, kills, code } = start();
      signals.emit(signal);
      expect(kills).toEqual(["SIGTERM"]);
      end(143);
      expect(await code).toBe(0);
      expect(signals.listenerCount(signal)).toBe(0);
    },
  );

  it("at a second signal ends it at once", () => {
    const { signals, kills } = start();
    signals.emit("SIGINT");
    signals.emit("SIGINT");
    expect(kills).toEqual(["SIGTERM", "SIGKILL"]);
  });

  it("ends it when it does not finish within five seconds", () => {
    const { signals, kills } = start();
    signals.emit("SIGTERM");
    vi.advanceTimersByTime(4_999);
    expect(kills).toEqual(["SIGTERM"]);
    vi.advanceTimersByTime(1);
    expect(kills).toEqual(["SIGTERM", "SIGKILL"]);
  });

  it("is a success when the terminal's Ctrl-C reached workerd first", async () => {
    const { end, code } = start();
    end(130);
    expect(await code).toBe(0);
  });

  it("answers the exit code of a workerd that ended by itself", async () => {
    const { end, code } = start();
    end(134);
    expect(await code).toBe(134);
  });
});
