import { EventEmitter } from "node:events";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { STARTS_MAX, STOPPING_MS_MAX, supervise } from "./supervisor.ts";
import type { WranglerProcess } from "./wrangler-process.ts";

/** A Wrangler that ends when the test says so. */
class FakeWrangler implements WranglerProcess {
  readonly #ended = Promise.withResolvers<number>();
  readonly ended = this.#ended.promise;
  readonly signals: NodeJS.Signals[] = [];

  kill(signal: NodeJS.Signals): void {
    this.signals.push(signal);
  }

  end(code: number): void {
    this.#ended.resolve(code);
  }
}

function supervised(platform: NodeJS.Platform = "linux") {
  const started: FakeWrangler[] = [];
  const next = [Promise.withResolvers<FakeWrangler>(), Promise.withResolvers<FakeWrangler>()];
  const signals = new EventEmitter();
  const warnings: string[] = [];
  const supervisor = supervise(
    () => {
      const wrangler = new FakeWrangler();
      next[started.length]?.resolve(wrangler);
      started.push(wrangler);
      return wrangler;
    },
    { signals, warn: (text) => warnings.push(text), platform },
  );
  const tell = (signal: NodeJS.Signals) => signals.emit(signal, signal);
  return { supervisor, signals, tell, started, warnings, first: next[0]?.promise, second: next[1]?.promise };
}

describe("supervise", () => {
  it("ends with the code of a Wrangler that ends by itself", async () => {
    const { supervisor, first } = supervised();
    (await first)?.end(7);
    expect(await supervisor.ended).toBe(7);
  });

  it("passes a signal on, and ends a Wrangler that does not react when there is a second one", async () => {
    const { supervisor, tell, first } = supervised();
    const wrangler = await first;
    tell("SIGTERM");
    expect(wrangler?.signals).toEqual(["SIGTERM"]);
    tell("SIGINT");
    expect(wrangler?.signals).toEqual(["SIGTERM", "SIGKILL"]);
    wrangler?.end(137);
    expect(await supervisor.ended).toBe(137);
  });

  it("on Windows leaves the first signal to the terminal, which tells Wrangler too", async () => {
    const { supervisor, tell, first } = supervised("win32");
    const wrangler = await first;
    tell("SIGINT");
    expect(wrangler?.signals).toEqual([]);
    tell("SIGINT");
    expect(wrangler?.signals).toEqual(["SIGKILL"]);
    wrangler?.end(1);
    expect(await supervisor.ended).toBe(1);
  });

  it("starts another one after a restart, and then ends with that one", async () => {
    const { supervisor, started, first, second } = supervised();
    supervisor.restart();
    expect((await first)?.signals).toEqual(["SIGTERM"]);
    (await first)?.end(143);
    (await second)?.end(0);
    expect(await supervisor.ended).toBe(0);
    expect(started).toHaveLength(2);
  });

  it("starts none if it is told to stop while it restarts", async () => {
    const { supervisor, tell, started, first } = supervised();
    supervisor.restart();
    tell("SIGINT");
    (await first)?.end(130);
    expect(await supervisor.ended).toBe(130);
    expect(started).toHaveLength(1);
  });

  it("ends a Wrangler that does not react when it has had its time", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { supervisor, tell, started } = supervised();
    tell("SIGTERM");
    vi.advanceTimersByTime(STOPPING_MS_MAX - 1);
    expect(started[0]?.signals).toEqual(["SIGTERM"]);
    vi.advanceTimersByTime(1);
    expect(started[0]?.signals).toEqual(["SIGTERM", "SIGKILL"]);
    started[0]?.end(137);
    expect(await supervisor.ended).toBe(137);
  });

  it("starts a Wrangler again that lost a socket, says so, and stops trying in the end", async () => {
    const { supervisor, started, warnings } = supervised();
    for (let start = 1; start <= STARTS_MAX; start++) {
      await vi.waitFor(() => expect(started).toHaveLength(start));
      supervisor.startAgain();
      supervisor.startAgain();
      started[start - 1]?.end(1);
    }
    expect(await supervisor.ended).toBe(1);
    expect(started).toHaveLength(STARTS_MAX);
    expect(warnings).toHaveLength(STARTS_MAX - 1);
    expect(warnings[0]).toMatch(/Starting Wrangler again \(2 of 5\)/);
  });

  it("counts anew how often it has tried once a Wrangler is up", async () => {
    const { supervisor, started } = supervised();
    for (let start = 1; start <= STARTS_MAX; start++) {
      await vi.waitFor(() => expect(started).toHaveLength(start));
      supervisor.onListening();
      supervisor.startAgain();
      started[start - 1]?.end(1);
    }
    await vi.waitFor(() => expect(started).toHaveLength(STARTS_MAX + 1));
    started[STARTS_MAX]?.end(0);
    expect(await supervisor.ended).toBe(0);
  });

  it("leaves no handler behind", async () => {
    const { supervisor, signals, first } = supervised();
    expect(signals.listenerCount("SIGINT")).toBe(1);
    (await first)?.end(0);
    await supervisor.ended;
    expect(signals.eventNames()).toEqual([]);
  });
});
