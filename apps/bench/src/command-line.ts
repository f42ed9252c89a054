import { positive, readOptions, UsageError, whole } from "@sluice/harness/command-line";

/** Benchmark that the arguments of `pnpm bench` ask for. */
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
  /** File for all measurements. */
  readonly jsonFile: string | null;
  /** Whether the figures of this run go into `docs/design/measurements.md` and its chart. */
  readonly writesDocs: boolean;
}

/** Modes beside the comparison, each an option. */
const MODES = ["backlog", "price", "scale", "sqs", "start"] as const;
export type Mode = "compare" | (typeof MODES)[number];

/** Many short runs, so that slow moments of the machine hit every system in some of them. */
const RUNS_DEFAULT = 8;
const RUN_SECONDS_DEFAULT = 1;
const QUICK = { runs: 1, runSeconds: 0.1 } as const;

export const USAGE = `pnpm bench [options]

  (nothing)          every system side by side
  --backlog          what a backlog and 10,000 delayed or retried messages cost
  --sqs              SQS through sluice serve, without Workers, beside fauxqs and ElasticMQ
  --price            what Cloudflare would bill per million messages
  --scale            sends to a queue with shards: measured, computed and simulated
  --start            how soon sluice dev and wrangler dev are ready, and what memory they take

  --system NAME      only systems whose id starts like this; repeatable
  --case WAY         only this case: single, concurrent50, concurrent500, requests50, batch100, burst, idle; with --sqs
                     sqs-single, sqs-senders50, sqs-batches16, sqs-drain16, sqs-through; with --price how its row begins;
                     repeatable
  --runs N           runs of each case whose median counts (default ${RUNS_DEFAULT})
  --seconds N        length of a run (default ${RUN_SECONDS_DEFAULT})
  --quick            everything small, within a minute: to see that it works, not how fast
  --no-install       use only peers that are installed already
  --json FILE        write everything that was measured
  --docs             put the figures into docs/design/measurements.md and its chart`;

const OPTIONS = {
  backlog: { type: "boolean" },
  price: { type: "boolean" },
  scale: { type: "boolean" },
  sqs: { type: "boolean" },
  start: { type: "boolean" },
  system: { type: "string", multiple: true },
  case: { type: "string", multiple: true },
  runs: { type: "string" },
  seconds: { type: "string" },
  quick: { type: "boolean" },
  "no-install": { type: "boolean" },
  json: { type: "string" },
  docs: { type: "boolean" },
} as const;

/** Reads a command line. Throws UsageError. */
export function parseCommandLine(args: readonly string[]): Command | "help" {
  const { values } = readOptions(args, OPTIONS);
  if (values.help === true) return "help";
  const isQuick = values.quick === true;
  return {
    mode: modeOf(values),
    systems: values.system ?? [],
    cases: values.case ?? [],
    runs: whole("--runs", values.runs, isQuick ? QUICK.runs : RUNS_DEFAULT, 1),
    runSeconds: positive("--seconds", values.seconds, isQuick ? QUICK.runSeconds : RUN_SECONDS_DEFAULT),
    isQuick,
    mayInstall: values["no-install"] !== true,
    jsonFile: values.json ?? null,
    writesDocs: values.docs === true,
  };
}

function modeOf(values: Readonly<Partial<Record<string, unknown>>>): Mode {
  const [mode = "compare", ...more] = MODES.filter((name) => values[name] === true);
  if (more.length > 0)
    throw new UsageError("One of --backlog, --price, --scale, --sqs and --start at a time.");
  return mode;
}
