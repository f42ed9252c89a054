import type { EventEmitter } from "node:events";
import { STOP_SIGNALS } from "../processes/stop-signals.ts";
import type { Runtime } from "../watchdog/keep-running.ts";

/** How long the broker may take to end after SIGTERM, in ms. */
const PATIENCE_MS = 5_000;

/**
 * Stops the broker, in workerd or in this process. At the first signal that asks this process to stop, it runs `finish`
 * and then ends the broker; at a second signal it ends the broker at once. All that was answered is on disk by then:
 * answers leave after the commit.
 *
 * @param finish waits for requests and work under way until `signal` is aborted. `by` is the signal that has come. Must
 *   not reject.
 * @param signals emits the signals. Default: this process.
 * @returns 0 after a signal, else the code that the broker ended with.
 */
export async function stopOnSignals(
  { kill, ended }: Runtime,
  finish: (signal: AbortSignal, by: NodeJS.Signals) => Promise<void>,
  signals: EventEmitter = process,
): Promise<number> {
  const atOnce = new AbortController();
  let isStopping = false;
  let timer: NodeJS.Timeout | undefined;
  const end = () => {
    atOnce.abort();
    kill("SIGKILL");
  };
  const stop = async (by: NodeJS.Signals) => {
    if (isStopping) return end();
    isStopping = true;
    await finish(atOnce.signal, by);
    if (atOnce.signal.aborted) return;
    kill("SIGTERM");
    timer = setTimeout(end, PATIENCE_MS);
  };
  for (const signal of STOP_SIGNALS) signals.on(signal, stop);
  const code = await ended;
  atOnce.abort();
  for (const signal of STOP_SIGNALS) signals.off(signal, stop);
  clearTimeout(timer);
  return isStopping ? 0 : code;
}
