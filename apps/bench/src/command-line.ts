import { parseArgs } from "node:util";

/** What `pnpm bench` is asked for. */
export interface Command {
  readonly mode: Mode;
  /** Prefixes of system ids; empty stands for all. */
  readonly systems: readonly string[];
  /** Ways of the cases; empty stands for all. */
  readonly cases: readonly string[];
  readonly runs: number;
  readonly runSeconds: number;
  readonly isQuick: boolean;
  readonly mayInstall: boolean;
  /** File for everything that was measured. */
  readonly jsonFile: string | null;
  /** Whether `docs/performance.md` and its chart get the figures of this run. */
  readonly writesDocs: boolean;
}

export type Mode =
  | { readonly kind: "compare" }
  | { readonly kind: "backlog" }
  | { readonly kind: "price" }
  | { readonly kind: "sqs" }
  | { readonly kind: "floor" }
  /** CPU profiles go to `file` and beside it: of the broker and the producer, or of `sluice serve` under SQS. */
  | { readonly kind: "profile"; readonly file: string; readonly of: "queues" | "sqs" };

/** A command line that makes no sense; its message is all there is to say. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Many short runs, so that what slows the machine down for a while hits every system in some. */
const RUNS_DEFAULT = 8;
const RUN_SECONDS_DEFAULT = 1;
const QUICK = { runs: 1, runSeconds: 0.1 } as const;

export const USAGE = `pnpm bench [options]

  (nothing)          every system side by side
  --backlog          what a backlog and 10,000 delayed or retried messages cost
  --sqs              SQS through sluice serve, without Workers, beside fauxqs and ElasticMQ
  --floor            what workerd and the disk alone take, with nothing of Sluice
  --price            what Cloudflare would bill per million messages
  --profile FILE     CPU profiles of the broker (FILE) and the producer (beside it); with --sqs of sluice serve

  --system NAME      only systems whose id starts like this; repeatable
  --case WAY         only this case: single, concurrent50, concurrent500, batch100, burst, idle; with --sqs sqs-single,
                     sqs-senders50, sqs-batches16, sqs-drain16, sqs-through; repeatable
  --runs N           runs of each case whose median counts (default ${RUNS_DEFAULT})
  --seconds N        length of a run (default ${RUN_SECONDS_DEFAULT})
  --quick            everything small, within a minute: to see that it works, not how fast
  --no-install       use only peers that are installed already
  --json FILE        write everything that was measured
  --docs             put the figures into docs/performance.md and its chart`;

/** Reads a command line. Throws UsageError. */
export function parseCommandLine(args: readonly string[]): Command | "help" {
  const values = parse(args);
  if (values.help === true) return "help";
  const isQuick = values.quick === true;
  return {
    mode: modeOf(values),
    systems: values.system ?? [],
    cases: values.case ?? [],
    runs: Math.floor(positive("--runs", values.runs, isQuick ? QUICK.runs : RUNS_DEFAULT)),
    runSeconds: positive("--seconds", values.seconds, isQuick ? QUICK.runSeconds : RUN_SECONDS_DEFAULT),
    isQuick,
    mayInstall: values["no-install"] !== true,
    jsonFile: values.json ?? null,
    writesDocs: values.docs === true,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      // pnpm passes the dashes of `pnpm bench -- --quick` on.
      args: args[0] === "--" ? args.slice(1) : [...args],
      options: {
        backlog: { type: "boolean" },
        price: { type: "boolean" },
        sqs: { type: "boolean" },
        floor: { type: "boolean" },
        profile: { type: "string" },
        system: { type: "string", multiple: true },
        case: { type: "string", multiple: true },
        runs: { type: "string" },
        seconds: { type: "string" },
        quick: { type: "boolean" },
        "no-install": { type: "boolean" },
        json: { type: "string" },
        docs: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function modeOf({ backlog, floor, price, sqs, profile }: ReturnType<typeof parse>): Mode {
  const asked: Mode[] = [];
  if (backlog === true) asked.push({ kind: "backlog" });
  if (price === true) asked.push({ kind: "price" });
  if (floor === true) asked.push({ kind: "floor" });
  if (profile !== undefined) {
    asked.push({ kind: "profile", file: profile, of: sqs === true ? "sqs" : "queues" });
  } else if (sqs === true) asked.push({ kind: "sqs" });
  if (asked.length > 1)
    throw new UsageError(
      "One of --backlog, --price, --sqs, --floor and --profile at a time, or --profile with --sqs.",
    );
  return asked[0] ?? { kind: "compare" };
}

function positive(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!(value > 0) || !Number.isFinite(value)) throw new UsageError(`${name} must be a number above 0.`);
  return value;
}
