import type { EventEmitter } from "node:events";
import type { Workerd } from "./workerd-process.ts";

const STOP_SIGNALS: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];
/** How long workerd may take to finish the requests that it is answering. */
const PATIENCE_MS = 5_000;

/**
 * Ends workerd at the first signal that asks this process to stop, at once at a second one. What was answered is on
 * disk by then: workerd answers after the commit.
 *
 * @param signals where signals are told of.
 * @returns 0 when the end was asked for, else workerd's exit code.
 */
export async function stopOnSignals(
  { kill, ended }: Pick<Workerd, "kill" | "ended">,
  signals: EventEmitter = process,
): Promise<number> {
  let timer: NodeJS.Timeout | null = null;
  const stop = () => {
    kill(timer === null ? "SIGTERM" : "SIGKILL");
    timer ??= setTimeout(kill, PATIENCE_MS, "SIGKILL");
  };
  for (const signal of STOP_SIGNALS) signals.on(signal, stop);
  const code = await ended;
  for (const signal of STOP_SIGNALS) signals.off(signal, stop);
  if (timer === null) return code === CODE_OF_CTRL_C ? 0 : code;
  clearTimeout(timer);
  return 0;
}

/** A terminal asks workerd itself too, which may be over before we have heard of it. */
const CODE_OF_CTRL_C = 130;
