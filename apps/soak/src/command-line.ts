import { parseArgs } from "node:util";

/** What `pnpm soak` is asked for. */
export type Command =
  | { readonly kind: "help" }
  /** One history, told event by event. */
  | { readonly kind: "one"; readonly seed: number }
  | { readonly kind: "many"; readonly from: number; readonly seeds: number; readonly minutes: number | null }
  /** Every planted bug, until it is found. */
  | { readonly kind: "planted"; readonly seeds: number };

/** A command line that makes no sense; its message is all there is to say. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const SEEDS_DEFAULT = 1_000;

export const USAGE = `pnpm soak [options]

  --seeds N     histories to run (default ${SEEDS_DEFAULT}; without a limit if --minutes is given)
  --from N      seed of the first one (default 1)
  --minutes M   stop after so many minutes
  --seed N      run the history of this seed, twice, and tell it event by event
  --planted     make every mistake that is planted, and count the histories until it is found`;

/** Reads a command line. Throws UsageError. */
export function parseCommandLine(args: readonly string[]): Command {
  const values = parse(args);
  if (values.help === true) return { kind: "help" };
  if (values.seed !== undefined) return { kind: "one", seed: whole("--seed", values.seed, 0) };
  const minutes = values.minutes === undefined ? null : positive("--minutes", values.minutes);
  const seedsDefault = minutes === null ? SEEDS_DEFAULT : Number.MAX_SAFE_INTEGER;
  const seeds = values.seeds === undefined ? seedsDefault : whole("--seeds", values.seeds, 1);
  if (values.planted === true) return { kind: "planted", seeds };
  const from = values.from === undefined ? 1 : whole("--from", values.from, 0);
  return { kind: "many", from, seeds, minutes };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      // pnpm passes the dashes of `pnpm soak -- --seed 1` on.
      args: args[0] === "--" ? args.slice(1) : [...args],
      options: {
        seeds: { type: "string" },
        from: { type: "string" },
        minutes: { type: "string" },
        seed: { type: "string" },
        planted: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function whole(option: string, text: string, min: number): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isSafeInteger(value) || value < min) {
    throw new UsageError(`${option} takes a whole number from ${min} on, not "${text}"`);
  }
  return value;
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0)
    throw new UsageError(`${option} takes a positive number, not "${text}"`);
  return value;
}
