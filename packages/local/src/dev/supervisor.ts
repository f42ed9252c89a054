import type { EventEmitter } from "node:events";
import { STOP_SIGNALS } from "../processes/stop-signals.ts";
import type { WranglerProcess } from "./wrangler-process.ts";

/** Keeps one Wrangler running until it ends by itself or this process is told to stop. */
export interface Supervisor {
  /** Resolves to the exit code of the last Wrangler. */
  readonly ended: Promise<number>;
  /** Ends the running Wrangler and starts another one. Does nothing while a restart is under way. */
  restart(): void;
  /** To be called when the running Wrangler listens: the count of failed starts begins again. */
  onListening(): void;
  /**
   * To be called when the running Wrangler could not open a socket of its own choice. Restarts it, up to `STARTS_MAX`
   * starts in a row.
   */
  startAgain(): void;
}

export interface SupervisorOptions {
  readonly warn: (text: string) => void;
  /** Emits the signals. Default: this process. */
  readonly signals?: EventEmitter;
  /** Default: this one. */
  readonly platform?: NodeJS.Platform;
}

/** Longest that Wrangler may take to end after a signal, in ms: longer than it has after a Ctrl-C (`ENDING_MS_MAX`). */
export const STOPPING_MS_MAX = 10_000;
/** Most starts of Wrangler in a row that fail on a socket. It chooses other sockets each time. */
export const STARTS_MAX = 5;

/**
 * Starts Wrangler, and passes on to it the first signal that asks this process to stop; Wrangler ends its workerd. A
 * second signal kills a Wrangler that has not ended, and so does `STOPPING_MS_MAX`.
 */
export function supervise(
  start: () => WranglerProcess,
  { warn, signals = process, platform = process.platform }: SupervisorOptions,
): Supervisor {
  let running = start();
  let starts = 1;
  let isRestarting = false;
  let stopRequests = 0;
  let patience: NodeJS.Timeout | undefined;
  const stop = (signal: NodeJS.Signals) => {
    stopRequests++;
    // On Windows the terminal signals all its processes, Wrangler too, and `kill` would end Wrangler at once.
    const isSignalled = platform === "win32" && stopRequests === 1;
    if (!isSignalled) running.kill(stopRequests === 1 ? signal : "SIGKILL");
    patience ??= setTimeout(() => running.kill("SIGKILL"), STOPPING_MS_MAX);
  };
  for (const signal of STOP_SIGNALS) signals.on(signal, stop);

  const run = async (): Promise<number> => {
    for (;;) {
      const code = await running.ended;
      if (!isRestarting || stopRequests > 0) return code;
      isRestarting = false;
      running = start();
    }
  };
  const restart = () => {
    if (isRestarting) return;
    isRestarting = true;
    running.kill("SIGTERM");
  };
  return {
    ended: run().finally(() => {
      clearTimeout(patience);
      for (const signal of STOP_SIGNALS) signals.off(signal, stop);
    }),
    restart,
    onListening() {
      starts = 1;
    },
    startAgain() {
      if (isRestarting || starts === STARTS_MAX) return;
      starts++;
      warn(
        "Another server took a socket that Wrangler had chosen for itself. That happens when several start at " +
          `once; nothing is wrong with your ports. Starting Wrangler again (${starts} of ${STARTS_MAX}).`,
      );
      restart();
    },
  };
}
