import { positive, readOptions, UsageError, whole } from "@sluice/harness/command-line";
import { SHAPES } from "./shapes/index.ts";

export const USAGE = `Usage: pnpm fuzz [--shape NAME] [--seed N] [--minutes N] [--requests N] [--url ENDPOINT]

Asks the broker for well-formed, nearly well-formed and hostile things. Each request must be answered in its API's form,
in time and without a 5xx; afterwards everything must be there, and messages that were sent in between must arrive.

  --shape NAME   one of these alone (default: all in turn):
                   sqs      all actions of SQS, in both protocols
                   bodies   large bodies without a token or a key
                   filters  filter policies of SNS, and messages that are hard for them
                   imports  lines of a backup in which something is odd
                   nesting  JSON that is nested up to 500,000 levels deep
  --seed N       first seed (default: one by the clock); each round has the next one
  --minutes N    begins rounds for so long (default 1)
  --requests N   requests or cases of a round (default: 2000 for sqs, 30 for imports, some hundreds for the others)
  --url URL      a broker that runs, http://localhost:8787/__sluice/aws, for sqs alone; its queues dead, work, plain,
                 ordered.fifo, strict.fifo, later and the-books are deleted. Default: brokers in this process`;

export interface FuzzCommand {
  /** Names in `SHAPES`. */
  readonly shapes: readonly string[];
  readonly seed: number;
  readonly minutes: number;
  /** `null` for as many as each shape has. */
  readonly requests: number | null;
  readonly url: string | null;
}

const text = { type: "string" } as const;

/** Reads a command line. Throws UsageError. */
export function parseCommandLine(args: readonly string[], nowMs: number): FuzzCommand | "help" {
  const options = { shape: text, seed: text, minutes: text, requests: text, url: text };
  const { values } = readOptions(args, options);
  if (values.help === true) return "help";
  return {
    shapes: shapesIn(values.shape, values.url),
    seed: whole("--seed", values.seed, nowMs % 2 ** 31, 0),
    minutes: positive("--minutes", values.minutes, 1),
    requests: whole("--requests", values.requests, null, 1),
    url: values.url ?? null,
  };
}

function shapesIn(name: string | undefined, url: string | undefined): readonly string[] {
  const all = [...SHAPES.keys()];
  if (name !== undefined && !all.includes(name)) {
    throw new UsageError(`--shape must be one of ${all.join(", ")}, not "${name}".`);
  }
  if (url === undefined) return name === undefined ? all : [name];
  if (name !== undefined && name !== "sqs")
    throw new UsageError(`--url goes with --shape sqs, not "${name}".`);
  return ["sqs"];
}
