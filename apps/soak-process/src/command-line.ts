import { parseArgs } from "node:util";

interface Kills<Kind extends string> {
  readonly kind: Kind;
  readonly kills: number;
  readonly seed: number;
  readonly lifeMsMax: number;
}

interface Freezes<Kind extends string> {
  readonly kind: Kind;
  readonly freezes: number;
  readonly seed: number;
  readonly frozenMsMax: number;
}

interface DiskFull<Kind extends string> {
  readonly kind: Kind;
  readonly times: number;
  readonly seed: number;
}

/** What is done to Workers on workerd. */
export type WorkersCommand =
  | Kills<"kills">
  | Freezes<"freezes">
  | DiskFull<"disk-full">
  | { readonly kind: "damage"; readonly cases: number; readonly from: number; readonly seed: number };

/** What is done to the broker alone. */
export type SqsCommand =
  | Kills<"sqs-kills">
  | Freezes<"sqs-freezes">
  | DiskFull<"sqs-disk-full">
  | { readonly kind: "sqs-damage"; readonly cases: number; readonly from: number; readonly seed: number }
  | {
      readonly kind: "sqs-swaps";
      readonly swaps: number;
      readonly seed: number;
      readonly lifeMsMax: number;
    };

/** What `pnpm soak:process` is asked for. */
export type Command = WorkersCommand | SqsCommand;

/** A command line that makes no sense; its message is all there is to say. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const USAGE = `pnpm soak:process COMMAND [options]

  kills      kill -9 of workerd under load     --kills N (100)    --life-ms N (500): longest time between two
  freezes    SIGSTOP and SIGCONT under load    --freezes N (10)   --seconds N (30): longest stop
  disk-full  a disk that is full under load    --times N (10); needs root, to mount one
  damage     state files cut, flipped, removed --cases N (28)     --from N (1): number of the first case

The same of the broker alone, which "sluice serve" without Workers runs in its own process, with clients of SQS:

  sqs-kills, sqs-freezes, sqs-disk-full, sqs-damage  take the options of kills, freezes, disk-full and damage
  sqs-swaps  ends, and goes on on workerd and back  --swaps N (10)  --life-ms N (500)

  --seed N   the same seed draws the same load, moments and damage (default: from the clock)`;

const OPTIONS = {
  kills: { type: "string" },
  "life-ms": { type: "string" },
  freezes: { type: "string" },
  seconds: { type: "string" },
  swaps: { type: "string" },
  times: { type: "string" },
  cases: { type: "string" },
  from: { type: "string" },
  seed: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

/** Reads a command line. Throws UsageError. */
export function parseCommandLine(args: readonly string[], randomSeed: number): Command | "help" {
  const { values, positionals } = parse(args);
  if (values.help === true) return "help";
  const [kind, ...more] = positionals;
  if (more.length > 0) throw new UsageError("One command at a time.");
  const seed = whole("--seed", values.seed, randomSeed, 0);
  switch (kind) {
    case "kills":
    case "sqs-kills": {
      const lifeMsMax = whole("--life-ms", values["life-ms"], 500, 0);
      return { kind, kills: whole("--kills", values.kills, 100, 1), seed, lifeMsMax };
    }
    case "sqs-swaps": {
      const lifeMsMax = whole("--life-ms", values["life-ms"], 500, 0);
      return { kind, swaps: whole("--swaps", values.swaps, 10, 1), seed, lifeMsMax };
    }
    case "freezes":
    case "sqs-freezes": {
      const frozenMsMax = 1000 * whole("--seconds", values.seconds, 30, 1);
      return { kind, freezes: whole("--freezes", values.freezes, 10, 1), seed, frozenMsMax };
    }
    case "disk-full":
    case "sqs-disk-full":
      return { kind, times: whole("--times", values.times, 10, 1), seed };
    case "damage":
    case "sqs-damage": {
      const from = whole("--from", values.from, 1, 1);
      return { kind, cases: whole("--cases", values.cases, 28, 1), from, seed };
    }
    case undefined:
      return "help";
    default:
      throw new UsageError(`There is no command "${kind}".`);
  }
}

function parse(args: readonly string[]) {
  try {
    // pnpm passes the dashes of `pnpm soak:process -- kills` on.
    const own = args[0] === "--" ? args.slice(1) : [...args];
    return parseArgs({ args: own, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function whole(name: string, text: string | undefined, fallback: number, min: number): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < min) {
    throw new UsageError(`${name} must be a whole number, ${min} or more.`);
  }
  return value;
}
