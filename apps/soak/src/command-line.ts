import { positive, readOptions, whole } from "@sluice/harness/command-line";

/** Task that the arguments of `pnpm soak` ask for. */
export type Command =
  /** One history, run twice, with each event printed. */
  | { readonly kind: "one"; readonly seed: number }
  | {
      readonly kind: "many";
      readonly from: number;
      readonly seeds: number;
      readonly minutes: number | null;
      /** Whether seeds whose queues have no shards are left out. */
      readonly shards: boolean;
    }
  /** Every planted bug, until it is found. */
  | { readonly kind: "planted"; readonly seeds: number };

const SEEDS_DEFAULT = 1_000;

export const USAGE = `pnpm soak [options]

  --seeds N     histories to run (default ${SEEDS_DEFAULT}; without a limit if --minutes is given)
  --from N      seed of the first one (default 1)
  --minutes M   stop after so many minutes
  --shards      run histories of queues with shards alone: every seventh seed
  --seed N      run the history of this seed, twice, and tell it event by event
  --planted     make every mistake that is planted, and count the histories until it is found`;

const OPTIONS = {
  seeds: { type: "string" },
  from: { type: "string" },
  minutes: { type: "string" },
  shards: { type: "boolean" },
  seed: { type: "string" },
  planted: { type: "boolean" },
} as const;

/** Reads a command line. Throws UsageError. */
export function parseCommandLine(args: readonly string[]): Command | "help" {
  const { values } = readOptions(args, OPTIONS);
  if (values.help === true) return "help";
  const seed = whole("--seed", values.seed, null, 0);
  if (seed !== null) return { kind: "one", seed };
  const minutes = positive("--minutes", values.minutes, null);
  const seeds = whole("--seeds", values.seeds, minutes === null ? SEEDS_DEFAULT : Number.MAX_SAFE_INTEGER, 1);
  if (values.planted === true) return { kind: "planted", seeds };
  const from = whole("--from", values.from, 1, 0);
  return { kind: "many", from, seeds, minutes, shards: values.shards === true };
}
