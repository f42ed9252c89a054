import { constants } from "node:os";
import type { Execute } from "../../on-broker.ts";

/** Signals that stop a command. SIGHUP is not one: `nohup` has a command ignore it. */
const SIGNALS = ["SIGINT", "SIGTERM"] as const;
let ignoresLostOutput = false;

/**
 * Runs commands that change an account. A command whose output is lost, as after `| head` or on a full disk, runs to
 * its end: half a deployment is worse than an unread one. An interrupted command stops at once, together with Wrangler,
 * and the next run continues.
 */
export function withEndings(execute: Execute): Execute {
  return (command) =>
    execute(async (printer, surroundings) => {
      ignoreLostOutput();
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

/**
 * Ignores errors of the outputs until the process ends: the last write may fail after the command has ended. `main.ts`
 * reports a loss of standard output at the end.
 */
function ignoreLostOutput(): void {
  if (ignoresLostOutput) return;
  ignoresLostOutput = true;
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
}
