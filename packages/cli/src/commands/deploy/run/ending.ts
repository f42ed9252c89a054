import { constants } from "node:os";
import type { Execute } from "../../on-broker.ts";

/** Not that of a terminal that is closed: whoever starts a command by `nohup` has it ignored. */
const SIGNALS = ["SIGINT", "SIGTERM"] as const;
/** Error codes of a pipe that is closed, and of a terminal. */
const NOBODY_READS = ["EPIPE", "EIO"];

let ignores = false;

/**
 * Runs commands that change an account. One whose output nobody reads any more, as after `| head`, goes on to its end:
 * half a deployment is worse than an unread one. One that is interrupted stops at once, and Wrangler with it; the next
 * run goes on from there.
 */
export function withEndings(execute: Execute): Execute {
  return (command) =>
    execute(async (printer, surroundings) => {
      ignoreClosedOutput();
      const stop = (signal: NodeJS.Signals) => {
        printer.warn(`\nStopped by ${signal}. Run the same command again to go on.`);
        process.exit(128 + constants.signals[signal]);
      };
      for (const signal of SIGNALS) process.once(signal, stop);
      try {
        return await command(printer, surroundings);
      } finally {
        for (const signal of SIGNALS) process.off(signal, stop);
      }
    });
}

/** For as long as this process lasts: what was written last fails after a command has ended. */
function ignoreClosedOutput(): void {
  if (ignores) return;
  ignores = true;
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error) => {
      if (!("code" in error && NOBODY_READS.includes(String(error.code)))) throw error;
    });
  }
}
