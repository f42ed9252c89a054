import { constants } from "node:os";
import type { Printer } from "@sluice/local/report/printer";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Runs a command. The first SIGINT or SIGTERM aborts `stop`, and the second one ends the process.
 *
 * @param isEndless whether only a signal ends the command, as with `--follow`.
 * @returns the command's exit code. After a signal, for a command with an end of its own: 128 and the signal's number.
 */
export async function untilStopped(
  printer: Printer,
  isEndless: boolean,
  run: (stop: AbortSignal) => Promise<number>,
): Promise<number> {
  const stopping = new AbortController();
  let exitCode: number | null = null;
  const onSignal = (signal: NodeJS.Signals) => {
    const code = 128 + constants.signals[signal];
    if (stopping.signal.aborted) process.exit(code);
    exitCode = code;
    printer.warn("\nStopping, once what is under way is done.");
    stopping.abort();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    const code = await run(stopping.signal);
    return exitCode === null || isEndless ? code : exitCode;
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}
