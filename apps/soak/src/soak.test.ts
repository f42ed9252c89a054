import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";
import { FAULT_KINDS } from "./history/faults.ts";
import { OUTCOME_KINDS } from "./history/history.ts";
import { showViolation } from "./report.ts";
import type { SoakOptions, SoakTotals } from "./soak.ts";

/** `pnpm soak` runs as many as one likes. */
const SEEDS = 1_000;
/** Half of them take 15 s of a processor, and unit tests have no other file that runs for so long. */
const THREADS = 2;
const THREAD = `
const { parentPort, workerData } = require("node:worker_threads");
import(workerData.module).then(({ soak }) => soak(workerData.options)).then((totals) => parentPort.postMessage(totals));
`;

/** Runs histories in a thread of its own. */
function soakInThread(options: SoakOptions): Promise<SoakTotals> {
  const { promise, resolve, reject } = Promise.withResolvers<SoakTotals>();
  const module = new URL("./soak.ts", import.meta.url).href;
  const thread = new Worker(THREAD, { eval: true, workerData: { module, options } });
  thread.once("message", resolve);
  thread.once("error", reject);
  thread.once("exit", (code) => reject(new Error(`the thread has ended with ${code}`)));
  return promise;
}

// conformance: at-least-once
it(`holds in ${SEEDS} histories, in which everything goes wrong that can`, { timeout: 600_000 }, async () => {
  const seeds = SEEDS / THREADS;
  const parts = await Promise.all(
    Array.from({ length: THREADS }, (_, i) => soakInThread({ from: 1 + i * seeds, seeds, forMs: Infinity })),
  );
  const sum = (of: (part: SoakTotals) => number) => parts.reduce((total, part) => total + of(part), 0);
  const violations = parts.flatMap((part) => part.violations);
  expect(violations.map((report) => showViolation(report, "under test", []))).toEqual([]);
  expect(sum(({ histories }) => histories)).toBe(SEEDS);
  for (const kind of FAULT_KINDS)
    expect(
      sum(({ faults }) => faults[kind]),
      kind,
    ).toBeGreaterThan(10);
  for (const kind of OUTCOME_KINDS)
    expect(
      sum(({ outcomes }) => outcomes[kind]),
      kind,
    ).toBeGreaterThan(50);
});
