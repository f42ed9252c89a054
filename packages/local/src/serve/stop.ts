import type { EventEmitter } from "node:events";
import type { Runtime } from "../watchdog/keep-running.ts";

const STOP_SIGNALS: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];
/** How long a process may take to finish the requests that it is answering. */
const PATIENCE_MS = 5_000;

/**
 * Ends the broker, workerd or what runs in this process, at the first signal that asks this process to stop, when
 * `finish` has ended; at once at a second one. What was answered is on disk by then: answers leave after the commit.
 *
 * @param finish lets end what the broker is doing for itself, until its signal is aborted, and is told which signal has
 *   come. Must not reject.
 * @param signals where signals are told of.
 * @returns 0 when the end was asked for, else the code that it ended with.
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
