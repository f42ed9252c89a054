import type { EventEmitter } from "node:events";
import type { WranglerProcess } from "./wrangler-process.ts";

/** Keeps one Wrangler running until it ends by itself or this process is told to stop. */
export interface Supervisor {
  /** Exit code of the last Wrangler; our own too. */
  readonly ended: Promise<number>;
  /** Ends the running Wrangler and starts another one. Asked for again until then, it does nothing more. */
  restart(): void;
  /** The running Wrangler listens. */
  onListening(): void;
  /**
   * The running Wrangler could not open a socket of its own choice: starts another one, unless that has failed too
   * often.
   */
  startAgain(): void;
}

export interface SupervisorOptions {
  readonly warn: (text: string) => void;
  /** Where signals are told of. Default: this process. */
  readonly signals?: EventEmitter;
  /** Default: this one. */
  readonly platform?: NodeJS.Platform;
}

/** Ask this process to stop. */
export const STOP_SIGNALS: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];
/** Longest that Wrangler may take to end after a signal: longer than it gives itself after a Ctrl-C. */
export const STOPPING_MS_MAX = 10_000;
/** How often Wrangler is started before its sockets count as lost. It chooses others each time. */
export const STARTS_MAX = 5;

/**
 * Starts Wrangler and passes on to it every signal that asks this process to stop; it takes workerd with it. A second
 * such signal ends a Wrangler that does not react, and so does time.
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
    // On Windows a terminal tells all of its processes, and a signal that another sends would kill Wrangler.
    const knows = platform === "win32" && stopRequests === 1;
    if (!knows) running.kill(stopRequests === 1 ? signal : "SIGKILL");
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
