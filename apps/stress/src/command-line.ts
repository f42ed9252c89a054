import { readOptions, UsageError, whole } from "@sluice/harness/command-line";

const TIMES_DEFAULT = 20;
const LOAD_DEFAULT = 8;
/** Most busy processes: with more the tests would hardly get processor time. */
export const LOAD_MAX = 64;

export const USAGE = `Usage: pnpm stress FILE... [--times N] [--load L]

Runs test files again and again beside a load.

  FILE       test files, or parts of their paths, as vitest takes them
  --times N  runs, one after the other (default ${TIMES_DEFAULT})
  --load L   processes that compute without a pause meanwhile, 0 to ${LOAD_MAX} (default ${LOAD_DEFAULT})`;

interface StressCommand {
  readonly files: readonly string[];
  readonly times: number;
  readonly load: number;
}

/**
 * Reads a command line.
 *
 * @throws UsageError for a wrong one.
 */
export function parseCommandLine(args: readonly string[]): StressCommand | "help" {
  const text = { type: "string" } as const;
  const { values, positionals } = readOptions(args, { times: text, load: text }, "names");
  if (values.help === true) return "help";
  if (positionals.length === 0) throw new UsageError("Which test files? Name one at least.");
  return {
    files: positionals,
    times: whole("--times", values.times, TIMES_DEFAULT, 1),
    load: whole("--load", values.load, LOAD_DEFAULT, 0, LOAD_MAX),
  };
}
