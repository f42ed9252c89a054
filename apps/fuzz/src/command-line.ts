import { positive, readOptions, whole } from "@sluice/harness/command-line";

export const USAGE = `Usage: pnpm fuzz [--seed N] [--minutes N] [--requests N] [--url ENDPOINT]

Asks SQS for well-formed, nearly well-formed and hostile things in both protocols. Each request must be answered in
AWS's form, in time and without a 5xx, and messages that are sent in between must all arrive.

  --seed N       first seed (default: one by the clock); each round has the next one
  --minutes N    begins rounds for so long (default 1)
  --requests N   requests of a round (default 2000)
  --url URL      a broker that runs, http://localhost:8787/__sluice/aws; its queues dead, work, plain, ordered.fifo,
                 strict.fifo, later and the-books are deleted. Default: one in this process`;

export interface FuzzCommand {
  readonly seed: number;
  readonly minutes: number;
  readonly requests: number;
  readonly url: string | null;
}

const text = { type: "string" } as const;

/** Reads a command line. Throws UsageError. */
export function parseCommandLine(args: readonly string[], nowMs: number): FuzzCommand | "help" {
  const { values } = readOptions(args, { seed: text, minutes: text, requests: text, url: text });
  if (values.help === true) return "help";
  return {
    seed: whole("--seed", values.seed, nowMs % 2 ** 31, 0),
    minutes: positive("--minutes", values.minutes, 1),
    requests: whole("--requests", values.requests, 2_000, 1),
    url: values.url ?? null,
  };
}
