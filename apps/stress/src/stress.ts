import { once } from "node:events";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type Child, startChild } from "@sluice/harness/child";

/** Result of one run of the files. */
export interface StressRun {
  /** Number of the run, from 1. */
  readonly number: number;
  readonly hasPassed: boolean;
  readonly tookMs: number;
  /** Everything that Vitest has printed. */
  readonly output: string;
}

interface StressOptions {
  readonly files: readonly string[];
  /** Working folder of Vitest. */
  readonly folder: string;
  /** Number of runs. */
  readonly times: number;
  /** Number of processes that compute without a pause meanwhile. */
  readonly load: number;
  readonly onRun: (run: StressRun) => void;
}

const VITEST = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");
/** Script that prints a line and then computes without a pause until its parent is gone. */
const BUSY = `
  console.log("busy");
  const parent = process.ppid;
  while (process.ppid === parent) for (let i = 0; i < 1e7; i++);
`;

/**
 * Runs test files again and again beside a load.
 *
 * @returns the number of failed runs.
 */
export async function stress({ files, folder, times, load, onRun }: StressOptions): Promise<number> {
  const busy = Array.from({ length: load }, () => startChild(process.execPath, ["--eval", BUSY]));
  try {
    await Promise.all(busy.map((child) => child.ready(() => child.output !== "")));
    let failed = 0;
    for (let number = 1; number <= times; number++) {
      const run = await runOnce(number, files, folder);
      if (!run.hasPassed) failed += 1;
      onRun(run);
    }
    return failed;
  } finally {
    await Promise.all(busy.map((child) => child.stop("SIGKILL")));
  }
}

async function runOnce(number: number, files: readonly string[], folder: string): Promise<StressRun> {
  const begunMs = performance.now();
  const vitest: Child = startChild(process.execPath, [VITEST, "run", ...files], { cwd: folder });
  const interrupted = () => vitest.stop("SIGINT").finally(() => process.exit(130));
  process.once("SIGINT", interrupted);
  try {
    await once(vitest.process, "close");
  } finally {
    process.off("SIGINT", interrupted);
  }
  return {
    number,
    hasPassed: vitest.ended?.code === 0,
    tookMs: performance.now() - begunMs,
    output: vitest.output,
  };
}
