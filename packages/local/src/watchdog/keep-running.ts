import type { LastEnd } from "@sluice/protocol";
import { Pulse } from "./pulse.ts";

/** Pauses before a runtime that has died is started again, in ms; the last one from then on. */
export const RESTART_PAUSES_MS: readonly number[] = [0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000];
/** A runtime that has run for so long without an end, in ms, does not die again and again. */
export const STEADY_MS = 60_000;

/** How long a runtime may take to answer for the first time, in ms: until then it opens what is stored. */
export const FIRST_ANSWER_MS_MAX = 60_000;

/** A process that runs Workers, and listens. */
export interface Runtime {
  /** Exit code once it has ended. */
  readonly ended: Promise<number>;
  kill(signal: NodeJS.Signals): void;
}

/** How a runtime is started and asked, and who is told what becomes of it. */
export interface RuntimeHost<R extends Runtime> {
  /** Starts one. Rejects if it ends before it listens. */
  start(lastEnd: LastEnd): Promise<R>;
  /** Resolves when it answers anything; rejects if it cannot be reached, or when the signal is aborted. */
  ping(runtime: R, signal: AbortSignal): Promise<unknown>;
  /** How long it may be silent, in ms. */
  readonly silentMsMax: number;
  /** Whether one that is silent is only told of: somebody may have stopped it in a debugger. */
  readonly isOnlyReported: boolean;
  /** It has been silent for that long, in ms; `isStarting` for one that has not answered since its start. */
  reportSilent(ms: number, isStarting: boolean): void;
  /**
   * Judges an end before the next runtime starts, which is told the answer.
   *
   * @param how whether it was silent and has been ended for it, or the code with which it has ended by itself.
   * @param ranMs how long it had run, without the time in which it was silent, in ms.
   */
  judgeEnd(how: "silent" | number, ranMs: number): Promise<LastEnd>;
  /** The next one starts in a while, in ms; it could not be started for that reason. */
  reportPause(ms: number, failure: unknown): void;
}

/** A runtime that is started again whenever it ends unasked. */
export interface KeptRunning<R extends Runtime> extends Runtime {
  /** The one that runs; `null` while there is none, or it is silent. */
  readonly current: R | null;
}

/**
 * Starts a runtime and keeps it running: one that is silent for too long is ended, and one that has ended is started
 * again, after growing pauses if that happens again and again. Until `kill` is called: then it ends with the runtime.
 *
 * @throws what `start` rejects with the first time.
 */
export async function keepRunning<R extends Runtime>(
  host: RuntimeHost<R>,
  lastEnd: LastEnd,
): Promise<KeptRunning<R>> {
  const stopping = new AbortController();
  let running: R | null = await host.start(lastEnd);
  let isSilent = false;
  let silentMs = 0;

  const run = async (): Promise<number> => {
    let deaths = 0;
    for (;;) {
      const startedMs = performance.now();
      const code = running === null ? 0 : await watch(running);
      if (stopping.signal.aborted) return code;
      const ranMs = performance.now() - startedMs;
      deaths = ranMs < STEADY_MS ? deaths + 1 : 1;
      running = null;
      const end = isSilent
        ? await host.judgeEnd("silent", ranMs - silentMs)
        : await host.judgeEnd(code, ranMs);
      isSilent = false;
      running = await startAgain(deaths, end);
    }
  };
  /** Resolves with its exit code. */
  const watch = async (runtime: R): Promise<number> => {
    const pulse = new Pulse({
      ping: (signal) => host.ping(runtime, signal),
      silentMsMax: host.silentMsMax,
      firstAnswerMsMax: FIRST_ANSWER_MS_MAX,
      onSilent: (ms, isStarting) => {
        // Whoever asked it to stop waits for it, and has a limit.
        if (stopping.signal.aborted) return;
        silentMs = ms;
        host.reportSilent(ms, isStarting);
        if (host.isOnlyReported) return;
        isSilent = true;
        runtime.kill("SIGKILL");
      },
    });
    return runtime.ended.finally(() => pulse.stop());
  };
  const startAgain = async (deaths: number, end: LastEnd): Promise<R | null> => {
    let failure: unknown = null;
    for (let pauses = deaths - 1; ; pauses++) {
      const pauseMs = RESTART_PAUSES_MS[Math.min(pauses, RESTART_PAUSES_MS.length - 1)] ?? 0;
      if (pauseMs > 0) host.reportPause(pauseMs, failure);
      if (pauseMs > 0) await pause(pauseMs, stopping.signal);
      if (stopping.signal.aborted) return null;
      try {
        const started = await host.start(end);
        // Whoever asked for the end meanwhile meant this one too.
        if (stopping.signal.aborted) started.kill("SIGKILL");
        return started;
      } catch (error) {
        failure = error;
      }
    }
  };
  const ended = run();
  return {
    ended,
    get current() {
      return isSilent ? null : running;
    },
    kill: (signal) => {
      stopping.abort();
      running?.kill(signal);
    },
  };
}

/** Resolves after a while, or when the signal is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
}
