import { setTimeout as sleep } from "node:timers/promises";
import { CliError } from "../errors.ts";

/** Time limit for reading a `cloudflare.config.ts`, in ms. */
export const READING_MS_MAX = 20_000;

export const LATE = Symbol("late");

/** Waits for an answer; resolves to `LATE` where it has not come in time. The timer keeps the process alive. */
export async function within<T>(answer: Promise<T>, ms: number): Promise<T | typeof LATE> {
  const over = new AbortController();
  try {
    return await Promise.race([answer, sleep(ms, LATE, { signal: over.signal })]);
  } finally {
    over.abort();
  }
}

/**
 * Waits for a `cloudflare.config.ts` that is read in this process.
 *
 * @param ms limit. Default: 20,000.
 * @throws CliError where it takes longer.
 */
export async function readInTime<T>(file: string, reading: Promise<T>, ms = READING_MS_MAX): Promise<T> {
  const result = await within(reading, ms);
  if (result === LATE) throw notAtItsEnd(file, ms);
  return result;
}

/** Makes the error for a configuration that is still being read after its time limit. */
export function notAtItsEnd(file: string, ms: number): CliError {
  return new CliError(
    `${file}: it has not come to its end after ${ms / 1_000} s. Look for a loop, or an await of something that never ` +
      "comes.",
  );
}
