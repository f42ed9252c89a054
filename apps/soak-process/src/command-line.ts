import { readOptions, UsageError, whole } from "@sluice/harness/command-line";

/** Run that the arguments of `pnpm soak:process` ask for. */
export type Command = {
  /** `workers`: with Workers on workerd; `sqs`: the broker alone, with clients of SQS. */
  readonly broker: "workers" | "sqs";
  readonly seed: number;
} & (
  | { readonly kind: "kills"; readonly kills: number; readonly epochMsMax: number }
  | { readonly kind: "freezes"; readonly freezes: number; readonly frozenMsMax: number }
  | { readonly kind: "disk-full"; readonly times: number }
  | { readonly kind: "damage"; readonly cases: number; readonly from: number }
  | { readonly kind: "swaps"; readonly swaps: number; readonly epochMsMax: number }
  | { readonly kind: "syncs"; readonly messages: number }
  | { readonly kind: "alerts"; readonly runs: number }
  | { readonly kind: "power"; readonly states: number; readonly isPlanted: boolean }
  | { readonly kind: "adopt"; readonly kills: number }
  | { readonly kind: "shards"; readonly kills: number; readonly epochMsMax: number }
  | {
      readonly kind: "rollouts";
      readonly rollouts: number;
      readonly stepMsMax: number;
      readonly old?: string;
    }
);

export const USAGE = `pnpm soak:process COMMAND [options]

  kills      kill -9 of workerd under load     --kills N (100)    --epoch-ms N (500): longest time between two
  freezes    SIGSTOP and SIGCONT under load    --freezes N (10)   --seconds N (30): longest stop
  disk-full  a disk that is full under load    --times N (10); needs root, to mount one
  rollouts   two versions, rolled out and back --rollouts N (100) --epoch-ms N (500): longest time between two steps
                                               --old FOLDER: checkout that the old version is built of (this one)
  damage     state files cut, flipped, removed --cases N (28)     --from N (1): number of the first case

  power      power cuts, on Node.js and workerd; needs strace  --states N (1000)
                                               --planted: are missing syncs found within --states N (400)?

The same of the broker alone, which "sluice serve" without Workers runs in its own process, with clients of SQS:

  sqs-kills, sqs-freezes, sqs-disk-full, sqs-damage  take the options of kills, freezes, disk-full and damage
  sqs-swaps  ends, and goes on on workerd and back  --swaps N (10)  --epoch-ms N (500)
  sqs-alerts kill -9 around alerts           --runs N (100)
  adopt-kills  kill -9 of "sluice adopt", which moves a queue from another broker  --kills N (100)
  shard-kills  kill -9 while the numbers of shards change  --kills N (100)  --epoch-ms N (3000)
  sqs-syncs  counts syncs before each answer, on Node.js and workerd; needs strace  --messages N (100)

  --seed N   the same seed draws the same load, moments and damage (default: from the clock)`;

const OPTIONS = {
  kills: { type: "string" },
  "epoch-ms": { type: "string" },
  freezes: { type: "string" },
  seconds: { type: "string" },
  swaps: { type: "string" },
  times: { type: "string" },
  messages: { type: "string" },
  runs: { type: "string" },
  cases: { type: "string" },
  states: { type: "string" },
  planted: { type: "boolean" },
  from: { type: "string" },
  rollouts: { type: "string" },
  old: { type: "string" },
  seed: { type: "string" },
} as const;

/** Reads a command line. Throws UsageError. */
export function parseCommandLine(args: readonly string[], randomSeed: number): Command | "help" {
  const { values, positionals } = readOptions(args, OPTIONS, "names");
  if (values.help === true) return "help";
  const [kind, ...more] = positionals;
  if (more.length > 0) throw new UsageError("One command at a time.");
  if (kind === undefined) return "help";
  const broker = kind.startsWith("sqs-") ? "sqs" : "workers";
  const common = { broker, seed: whole("--seed", values.seed, randomSeed, 0) } as const;
  const epochMsMax = whole("--epoch-ms", values["epoch-ms"], 500, 0);
  switch (kind) {
    case "kills":
    case "sqs-kills":
      return { kind: "kills", ...common, kills: whole("--kills", values.kills, 100, 1), epochMsMax };
    case "sqs-swaps":
      return { kind: "swaps", ...common, swaps: whole("--swaps", values.swaps, 10, 1), epochMsMax };
    case "sqs-alerts":
      return { kind: "alerts", ...common, runs: whole("--runs", values.runs, 100, 1) };
    case "adopt-kills":
      return { kind: "adopt", ...common, kills: whole("--kills", values.kills, 100, 1) };
    case "shard-kills": {
      const kills = whole("--kills", values.kills, 100, 1);
      return {
        kind: "shards",
        ...common,
        kills,
        epochMsMax: whole("--epoch-ms", values["epoch-ms"], 3_000, 0),
      };
    }
    case "sqs-syncs":
      return { kind: "syncs", ...common, messages: whole("--messages", values.messages, 100, 1) };
    case "power": {
      const isPlanted = values.planted === true;
      const states = whole("--states", values.states, isPlanted ? 400 : 1_000, 1);
      return { kind, ...common, states, isPlanted };
    }
    case "freezes":
    case "sqs-freezes": {
      const frozenMsMax = 1000 * whole("--seconds", values.seconds, 30, 1);
      return { kind: "freezes", ...common, freezes: whole("--freezes", values.freezes, 10, 1), frozenMsMax };
    }
    case "rollouts": {
      const rollouts = whole("--rollouts", values.rollouts, 100, 1);
      const { old } = values;
      return { kind, ...common, rollouts, stepMsMax: epochMsMax, ...(old === undefined ? {} : { old }) };
    }
    case "disk-full":
    case "sqs-disk-full":
      return { kind: "disk-full", ...common, times: whole("--times", values.times, 10, 1) };
    case "damage":
    case "sqs-damage": {
      const from = whole("--from", values.from, 1, 1);
      return { kind: "damage", ...common, cases: whole("--cases", values.cases, 28, 1), from };
    }
    default:
      throw new UsageError(`There is no command "${kind}".`);
  }
}
