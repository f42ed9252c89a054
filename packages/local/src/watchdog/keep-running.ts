import type { LastEnd } from "@sluice/protocol";
import { Pulse } from "./pulse.ts";

/** Pauses before each restart of a runtime that dies repeatedly, in ms; then the last one each time. */
export const RESTART_PAUSES_MS: readonly number[] = [0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000];
/** Time after which the end of a runtime no longer counts as a repeated one, in ms. */
export const STEADY_MS = 60_000;

/** How long a runtime may take to answer for the first time, in ms: it opens the stored data first. */
export const FIRST_ANSWER_MS_MAX = 60_000;

/** A process, or a part of this one, that runs the broker and listens. */
export interface Runtime {
  /** Exit code once it has ended. */
  readonly ended: Promise<number>;
  kill(signal: NodeJS.Signals): void;
}

/** Starts and pings runtimes for `keepRunning`, and reports what happens to them. */
export interface RuntimeHost<R extends Runtime> {
  /** Starts a runtime. Rejects if it ends before it listens. */
  start(lastEnd: LastEnd): Promise<R>;
  /** Resolves when the runtime answers anything; rejects if it cannot be reached, or when the signal is aborted. */
  ping(runtime: R, signal: AbortSignal): Promise<unknown>;
  /** How long a runtime may be silent, in ms. */
  readonly silentMsMax: number;
  /** Whether a silent runtime is only reported and not ended: it may be stopped in a debugger. */
  readonly isOnlyReported: boolean;
  /** Reports that a runtime has been silent for `ms`; `isStarting` if it has not answered since its start. */
  reportSilent(ms: number, isStarting: boolean): void;
  /**
   * Judges an end. The next runtime starts with the result.
   *
   * @param how `silent` if the runtime was ended because it was silent, else the code with which it ended by itself.
   * @param ranMs how long it had run, without the time in which it was silent, in ms.
   */
  judgeEnd(how: "silent" | number, ranMs: number): Promise<LastEnd>;
  /** Reports that the next start is in `ms`. `failure` is the reason why the last one failed; `null` if none did. */
  reportPause(ms: number, failure: unknown): void;
}

/** A runtime that is started again whenever it ends unasked. */
export interface KeptRunning<R extends Runtime> extends Runtime {
  /** The runtime that runs and answers; `null` while there is none, or it is silent and about to end. */
  readonly current: R | null;
}

/**
 * Starts a runtime and keeps it running until `kill` is called. A runtime that is silent for too long is ended, and an
 * ended one is replaced, after growing pauses if it ends repeatedly.
 *
 * @throws the error of the first `start`.
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
  /** Resolves with the runtime's exit code. */
  const watch = async (runtime: R): Promise<number> => {
    const pulse = new Pulse({
      ping: (signal) => host.ping(runtime, signal),
      silentMsMax: host.silentMsMax,
      firstAnswerMsMax: FIRST_ANSWER_MS_MAX,
      onSilent: (ms, isStarting) => {
        // The caller of `kill` waits for the end with a limit of its own.
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
        // `kill` was called while this runtime started.
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
