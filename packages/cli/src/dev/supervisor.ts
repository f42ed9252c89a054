import type { EventEmitter } from "node:events";
import type { WranglerProcess } from "./wrangler-process.ts";

/** Keeps one Wrangler running until it ends by itself or this process is told to stop. */
export interface Supervisor {
  /** Exit code of the last Wrangler; our own too. */
  readonly ended: Promise<number>;
  /** Ends the running Wrangler and starts another one. */
  restart(): void;
}

const STOP_SIGNALS: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/**
 * Starts Wrangler and passes on to it every signal that asks this process to stop; it takes workerd with it. A second
 * such signal ends a Wrangler that does not react.
 *
 * A terminal asks Wrangler by itself, at the same moment: Wrangler ends at the first signal and never sees the second.
 *
 * @param signals where signals are told of.
 */
export function supervise(start: () => WranglerProcess, signals: EventEmitter = process): Supervisor {
  let running = start();
  let isRestarting = false;
  let stopRequests = 0;
  const stop = (signal: NodeJS.Signals) => {
    stopRequests++;
    running.kill(stopRequests === 1 ? signal : "SIGKILL");
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
  return {
    ended: run().finally(() => {
      for (const signal of STOP_SIGNALS) signals.off(signal, stop);
    }),
    restart() {
      isRestarting = true;
      running.kill("SIGTERM");
    },
  };
}
