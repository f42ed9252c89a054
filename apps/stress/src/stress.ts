import { once } from "node:events";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type Child, startChild } from "@sluice/harness/child";

/** A run of the files that has ended. */
export interface StressRun {
  /** Counted from 1. */
  readonly number: number;
  readonly hasPassed: boolean;
  readonly tookMs: number;
  /** Everything that it has printed. */
  readonly output: string;
}

interface StressOptions {
  readonly files: readonly string[];
  /** Folder that vitest runs in. */
  readonly folder: string;
  readonly times: number;
  /** Processes that compute without a pause meanwhile. */
  readonly load: number;
  readonly onRun: (run: StressRun) => void;
}

const VITEST = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");
/** Computes without a pause, once it has said that it is there, until its parent is gone. */
const BUSY = `
  console.log("busy");
  const parent = process.ppid;
  while (process.ppid === parent) for (let i = 0; i < 1e7; i++);
`;

/**
 * Runs test files one time after the other beside a load.
 *
 * @returns how many runs have failed.
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
