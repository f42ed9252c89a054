import { parseArgs } from "node:util";

export const USAGE = `Usage: pnpm fuzz [--seed N] [--minutes N] [--requests N] [--url ENDPOINT]

Asks SQS for well-formed, nearly well-formed and hostile things in both protocols. Each request must be answered in AWS's
form, in time and without a 5xx, and messages that are sent in between must all arrive.

  --seed N       first seed (default: one by the clock); each round has the next one
  --minutes N    begins rounds for so long (default 1)
  --requests N   requests of a round (default 2000)
  --url URL      a broker that runs, http://localhost:8787/__sluice/aws; its queues dead, work, plain, ordered.fifo,
                 strict.fifo, later and the-books are deleted. Default: the gateway and its queues in this process`;

export interface FuzzCommand {
  readonly seed: number;
  readonly minutes: number;
  readonly requests: number;
  readonly url: string | null;
}

/** Reads the command line; a text is what is wrong with it. */
export function parseCommandLine(args: readonly string[], nowMs: number): FuzzCommand | string {
  let values: Record<string, string | undefined>;
  try {
    const option = { type: "string" } as const;
    const options = { seed: option, minutes: option, requests: option, url: option };
    values = parseArgs({ args: [...args], options }).values;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const numbers = {
    seed: Number(values.seed ?? nowMs % 2 ** 31),
    minutes: Number(values.minutes ?? 1),
    requests: Number(values.requests ?? 2_000),
  };
  for (const [name, number] of Object.entries(numbers)) {
    const isGood = name === "minutes" ? number > 0 : Number.isInteger(number) && number >= 1;
    if (!isGood) return `--${name} must be a number from 1 on`;
  }
  return { ...numbers, url: values.url ?? null };
}
